#pragma once
// GraphJudge: is what ranks do the graph? Judged node by node and move by move, on the values that
// the ranks hold: a node's outputs, joined, are what its op makes of its joined inputs on whole
// tensors; a move changes where elements lie, not what they are. Each is an exact comparison or one
// with the error bound of comparison.hpp, which holds of one op but of no chain of them: what one
// node rounds the next one may magnify. So the first node or move that is wrong is the one that is
// named, and by induction ranks that pass compute the graph. Thread-safe.

#include <map>
#include <mutex>

#include "core/exec/comparison.hpp"
#include "core/exec/graph_program.hpp"
#include "core/exec/sharded_op.hpp"

namespace onedim {

// In the order of the run: node, 0 for a move before it and 1 for the node, number of the move.
using GraphOrder = std::tuple<int, int, int>;

struct GraphVerdict {
  bool is_equal = true;
  bool is_bit_equal = true;
  double max_abs_error = 0;
  double max_ulp = 0;
  int64_t nodes = 0;  // judged
  int64_t moves = 0;
  std::string difference;           // the first in the order in which the graph runs
  std::optional<GraphOrder> first;  // where that is
  // A node whose op could not be run on whole tensors.
  Status status;
};
// Of nodes and moves that another has judged.
void add_verdict(GraphVerdict other, GraphVerdict& verdict);

class GraphJudge : public GraphWatcher {
 public:
  explicit GraphJudge(const GraphTask& task);

  void on_inputs(int64_t rank, int node, std::span<Tensor* const> inputs) override;
  void on_outputs(int64_t rank, int node, std::span<const Tensor> outputs) override;
  void on_move(int64_t rank, int move, const Tensor& from, const Tensor& to) override;

  // After the run.
  GraphVerdict verdict() const;

 private:
  // What ranks have told of a node or a move; per rank, then slot.
  struct Told {
    std::vector<std::vector<Tensor>> inputs, outputs;
    size_t come = 0;
  };
  // One output, on one rank or of all ranks together.
  struct Compared {
    size_t output = 0;
    std::string where;
    Comparison comparison;
  };

  void judge_node(int node, const Told& told);
  void judge_move(int move, const Told& told);
  std::vector<Compared> compare_outputs(int node, const Told& told, const WholeResult& whole);
  Comparison compare_partial(const Layout& layout, std::span<const Tensor> locals,
                             const Tensor& expected, const Tensor* magnitudes, double roundings);
  double coarseness(int node, const WholeResult& whole) const;
  void note(const GraphOrder& order, const Comparison& compared, std::string_view what,
            std::string_view where, const Layout& layout);
  void fail(const Status& status);

  const GraphTask& task_;
  size_t ranks_;
  bool keeps_copies_ = false;  // nodes write into what was told
  std::mutex mutex_;
  std::map<int, Told> nodes_, moves_;  // that lack a rank
  std::vector<int> move_starts_;
  GraphVerdict verdict_;
};

}  // namespace onedim
