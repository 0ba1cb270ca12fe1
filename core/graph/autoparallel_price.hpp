#pragma once
// AutoParallel price: what AutoParallel takes a solution of a graph to cost: each node by itself,
// on tensors of which a mesh dim leaves the share rounded up, and each edge by itself, by its walk
// over mesh dims (autoparallel_move.hpp). Views cost nothing, all other ops their bytes and at
// least a launch, and those of counted_ops.hpp their arithmetic if that takes longer. Sizes that an
// op is told by number are not cut. It is a declared exception to the one cost model: nothing is
// planned by these prices but in the mode that compares with AutoParallel.

#include <memory>

#include "core/cost/cost_model.hpp"
#include "core/cost/counted_ops.hpp"
#include "core/graph/autoparallel_solution.hpp"

namespace onedim {

class AutoParallelPrices {
 public:
  // `model` is `autoparallel-h100` on the mesh at hand. Fails where data of onedim is missing.
  static Result<AutoParallelPrices> create(std::shared_ptr<const CostModel> model);

  // In us. One layout per input slot and output, those of absent ones without placements. Fails
  // where the pack's cost does, naming the op.
  Result<double> node_us(const ResolvedNode& node, std::span<const Layout> inputs,
                         std::span<const Layout> outputs) const;
  // In us, infinite where there is no such move. `meta` is the global tensor with its producer's
  // strides.
  double move_us(const TensorMeta& meta, const Layout& from, const Layout& to) const;
  const Mesh& mesh() const { return model_->mesh(); }

 private:
  AutoParallelPrices(std::shared_ptr<const CostModel> model, CountedOps counted)
      : model_(std::move(model)), counted_(std::move(counted)) {}

  std::shared_ptr<const CostModel> model_;
  CountedOps counted_;
};

struct AutoParallelPriced {
  std::vector<double> node_us;               // per node
  std::vector<std::vector<double>> edge_us;  // per node and input slot, 0 where absent
  double compute_us = 0, communication_us = 0;
  int edges = 0;
  int transitions = 0;  // edges whose layouts differ, free ones included
};

// Every node and edge. `solution` is of that graph and of the prices' mesh.
Result<AutoParallelPriced> price_autoparallel(const ResolvedGraph& resolved,
                                              const AutoParallelSolution& solution,
                                              const AutoParallelPrices& prices);

}  // namespace onedim
