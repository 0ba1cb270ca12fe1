#pragma once
// DealtJudge: judges a graph whose ranks are processes: a rank keeps what it sees of each node and
// move, and when ranks judge, each of these, with the parts that all ranks have of it, goes to one
// rank, which judges it as GraphJudge does. So ranks share the work, and compute no node's whole
// result but those dealt to them. What is kept stays in memory until it is judged.

#include "core/exec/graph_run.hpp"
#include "core/exec/mpi_world.hpp"

namespace onedim {

class DealtJudge : public GraphWatcher {
 public:
  // All are borrowed; `whole` as run_whole_graph gives it.
  DealtJudge(const GraphTask& task, std::span<const Tensor> whole, MpiWorld& world);

  void on_inputs(int64_t rank, int node, std::span<Tensor* const> inputs) override;
  void on_outputs(int64_t rank, int node, std::span<const Tensor> outputs) override;
  void on_move(int64_t rank, int move, const Tensor& from, const Tensor& to) override;
  // Behind the last stage: of the rank's program.
  void add_outputs(const GraphProgram& program);

  // How much is kept, in bytes of whole tensors: the same on all ranks.
  int64_t kept_bytes() const { return kept_bytes_; }
  // Collective over all ranks, which have come to the same stage: deals all that is kept.
  Status judge_kept();
  // Collective over all ranks, once: what all of them have found.
  Result<GraphFindings> collect();

 private:
  struct Item {
    enum class Kind { kNode, kMove, kOutput };
    Kind kind = Kind::kNode;
    int number = 0;
    size_t inputs = 0;  // as many of the tensors come first
    std::vector<Tensor> tensors;
  };

  Tensor kept(const Tensor& tensor) const;
  void keep(Item item);
  Status judge_round(std::span<const Item> items);
  // `parts`: per rank and tensor of the item.
  Status judge_item(const Item& item, std::span<std::vector<Tensor>> parts);

  const GraphTask& task_;
  std::span<const Tensor> whole_;
  MpiWorld& world_;
  GraphJudge judge_;
  bool keeps_copies_ = false;  // nodes write into what was seen
  int64_t kept_bytes_ = 0;
  std::vector<Tensor> inputs_;  // of the node that runs
  std::vector<Item> items_;
  std::vector<OutputDistance> outputs_;
};

}  // namespace onedim
