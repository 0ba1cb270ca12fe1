#pragma once
// GraphProgram: one rank's run of a graph under a solution: the interpreter. It takes the stages of
// its GraphTask in order: steps of moves through the communicator, local calls through the packs,
// and the settling of partials of packs. What nothing uses any more is released at the end of the
// node that used it last. Someone may watch: see GraphWatcher.

#include "core/exec/held_tensors.hpp"
#include "core/exec/joint_settling.hpp"
#include "core/exec/node_runner.hpp"
#include "core/exec/rank_program.hpp"

namespace onedim {

// Sees what ranks do, each from its own thread where they have some. Tensors are borrowed for the
// call; what a node writes in place changes them behind it.
class GraphWatcher {
 public:
  virtual ~GraphWatcher() = default;
  // Inputs per slot, null where absent, before the node runs.
  virtual void on_inputs(int64_t rank, int node, std::span<Tensor* const> inputs) = 0;
  // Per output, empty where absent; partials of packs are settled.
  virtual void on_outputs(int64_t rank, int node, std::span<const Tensor> outputs) = 0;
  // The tensor before and behind a move.
  virtual void on_move(int64_t rank, int move, const Tensor& from, const Tensor& to) = 0;
};

class GraphProgram : public RankProgram {
 public:
  // `task`, `site`'s things, `roofline` and `watcher` are borrowed; the last two may be null.
  // `given`: per value the local tensor under its layout, empty where a node makes it. They are
  // written where nodes do so.
  GraphProgram(const GraphTask& task, std::vector<Tensor> given, const RankSite& site,
               const Roofline* roofline, GraphWatcher* watcher);
  ~GraphProgram() override;

  size_t stage_count() const override { return task_.stages.size(); }
  Status begin(size_t stage) override;
  Status end(size_t stage) override;

  // Of an output of the graph or a gradient, as task.output_layout has it; after the last stage.
  const Tensor& output(ValueId value) const;

 private:
  struct JointNode;

  size_t place_of_move(int move) const { return task_.graph().values.size() + move; }
  size_t place_of(ValueId value, int source) const;
  Status begin_move(const GraphStage& stage);
  Status end_move(const GraphStage& stage);
  Status call(int node);
  Status begin_settling(const GraphStage& stage);
  Status end_settling(const GraphStage& stage);
  Status finish_joint(int node);
  void hold_outputs(int node, NodeOutputs made);
  // Until when each place is held: the end of a node, or of a move that is the last to read it.
  void plan_drops();
  bool is_used_by(size_t place, int node) const;
  void drop(std::span<const size_t> places);
  Status annotated(const Status& status, int node) const;

  const GraphTask& task_;
  RankSite site_;
  GraphWatcher* watcher_;
  NodeRunner runner_;
  HeldTensors held_;
  std::unique_ptr<RankPlan> moving_;
  std::unique_ptr<JointNode> joint_;
  std::vector<std::vector<size_t>> drops_;       // per node: places whose last user it is
  std::vector<std::vector<size_t>> move_drops_;  // per move, the same
};

}  // namespace onedim
