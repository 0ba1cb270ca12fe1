#pragma once
// StrategyTable: every strategy of one node that is worth trying on a mesh, with the time of its
// local call and of settling its outputs: single-dim rules on each mesh dim, each order of cuts
// that makes a difference, valid as in selection, of those with the same layouts one. Nodes of the
// same op, descriptions and attributes, whose inputs can have the same placements, share a table.

#include <deque>

#include "core/graph/resolved_graph.hpp"
#include "core/graph/solution.hpp"
#include "core/plan/layout_pool.hpp"
#include "core/plan/natural_placements.hpp"
#include "core/redistribute/planner.hpp"
#include "core/select/compute_time.hpp"
#include "core/select/select_request.hpp"

namespace onedim {

struct PricedStrategy {
  NodeStrategy strategy;
  int64_t compute_ps = 0;                             // of the rank that takes longest
  std::vector<std::shared_ptr<const Plan>> settling;  // per partial kind of a pack
  int64_t settling_ps = 0;
};

struct StrategyTable {
  std::vector<PricedStrategy> strategies;
  // Per input slot and output, then per strategy; outputs as they lie once settled. kNoLayout where
  // absent.
  std::vector<std::vector<LayoutId>> inputs;
  std::vector<std::vector<LayoutId>> outputs;
  std::vector<PlacementSet> natural;  // per output
  int size() const { return static_cast<int>(strategies.size()); }
};

// All orders of the mesh dims of more than one rank, where they are few; else the mesh's own.
std::vector<Dims> cutting_orders(const Mesh& mesh);

// Makes tables and keeps them. Not thread-safe.
class StrategyTables {
 public:
  // All are borrowed.
  StrategyTables(const Registry& registry, const CostModel& model, const Roofline& roofline,
                 const SelectOptions& options, LayoutPool& pool);

  // `inputs`: per input slot what it can have, null where absent. `given`: the node's rules, one a
  // mesh dim, or null. Errors do not name the node.
  Result<const StrategyTable*> of(const ResolvedNode& node,
                                  std::span<const PlacementSet* const> inputs,
                                  const std::vector<Rule>* given);
  size_t size() const { return tables_.size(); }

 private:
  Result<StrategyTable> enumerate(const ResolvedNode& node,
                                  std::span<const PlacementSet* const> inputs);
  Result<StrategyTable> of_given(const ResolvedNode& node, const std::vector<Rule>& given);

  const Registry& registry_;
  const CostModel& model_;
  const Roofline& roofline_;
  SelectOptions options_;
  LayoutPool& pool_;
  std::vector<Dims> orders_;
  std::deque<StrategyTable> tables_;
  absl::flat_hash_map<std::string, const StrategyTable*> by_key_;
};

}  // namespace onedim
