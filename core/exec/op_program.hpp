#pragma once
// OpProgram: one rank's run of a sharded op: its inputs move as their plans say, its local call
// runs through the op's pack, told where it stands; then the outputs are settled (partials of every
// kind are reduced, states of joint kinds merged and finished) and compared with the rank's part of
// the whole result. The stages are the same on all ranks, as each is collective.

#include "core/exec/comparison.hpp"
#include "core/exec/rank_plan.hpp"
#include "core/exec/rank_program.hpp"
#include "core/exec/sharded_op.hpp"

namespace onedim {

struct OutputComparison {
  int output = 0;
  Comparison comparison;
};

class OpProgram : public RankProgram {
 public:
  // All but `locals` are borrowed. `locals`, one a slot, lie as the plans' sources, or as
  // op.inputs where there is none; they are not written.
  OpProgram(const ShardedOp& op, const WholeResult& whole, std::vector<Tensor> locals,
            const RankSite& site);
  ~OpProgram() override;

  // Once, before any stage.
  Status prepare();
  size_t stage_count() const override { return stages_.size(); }
  Status begin(size_t stage) override;
  Status end(size_t stage) override;

  // What the rank held at most for the op itself, without the comparison.
  int64_t peak_bytes() const { return peak_bytes_; }
  // After the last stage, of the outputs that are there.
  const std::vector<OutputComparison>& comparisons() const { return comparisons_; }

 private:
  struct Settling;
  struct Stage {
    RankPlan* plan = nullptr;
    size_t step = 0;
    Settling* settling = nullptr;  // neither: the local call
  };

  Status prepare_call();
  void add_moves();
  void add_settlings();
  void settle_output(int output);
  Status compute();
  Status start_settling(Settling& settling);
  Status finish_settling(Settling& settling);
  void compare(int output, const Tensor& settled, const Tensor* partial_magnitudes);
  Dims coordinate() const;

  const ShardedOp& op_;
  const WholeResult& whole_;
  RankSite site_;
  std::vector<Tensor> locals_;
  std::vector<JointGroup> groups_;
  std::unique_ptr<RankCall> call_;
  std::vector<std::unique_ptr<RankPlan>> moves_;  // per slot; null where the input stays
  std::vector<std::unique_ptr<Settling>> settlings_;
  std::vector<Stage> stages_;
  std::vector<OutputComparison> comparisons_;
  int64_t peak_bytes_ = 0;
};

}  // namespace onedim
