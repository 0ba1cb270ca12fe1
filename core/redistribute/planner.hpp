#pragma once
// Planner: the one redistribution planner, for one cost model and its mesh. It finds the cheapest
// chain of single steps (step_kind.hpp) between two layouts, exactly, and remembers plans. At equal
// cost: fewer collectives, fewer bytes, fewer steps, text order. Thread-safe. The tensors of a
// group (outputs of one partial kind of a pack) move as one value: one plan, their bytes summed;
// their layouts are written with component 0. Where a kind's state is hidden the group is its
// tensors, at both ends: to finish what is merged is no step. Only leading dims that all tensors of
// a state share are cut.

#include <limits>

#include "core/base/memo.hpp"
#include "core/cost/cost_model.hpp"
#include "core/layout/policy.hpp"
#include "core/redistribute/graph_store.hpp"
#include "core/redistribute/plan.hpp"

namespace onedim {

struct PlanOptions {
  Policy policy = Policy::kNonempty;  // binds the target and all states between
  int64_t memory_bytes = std::numeric_limits<int64_t>::max();  // cap on a step's memory_bytes
  bool allow_shard_to_partial = false;
  // Which dim of the local tensors is outermost in memory in the source, and is to be in the
  // target; see memory_order.hpp.
  int from_outermost = 0;
  int to_outermost = 0;
};

// The layouts that one-to-all searches of tensors of one rank reach, numbered in text order: R, S
// in any order of cuts, P of the kinds asked for, and the strided shards of the layouts given.
class LayoutTable {
 public:
  explicit LayoutTable(std::shared_ptr<StateGraph> graph) : graph_(std::move(graph)) {}
  int size() const { return graph_->size(); }
  Layout layout(int index) const { return graph_->alphabet().decode(graph_->code(index)); }
  // -1 where the layout is not in the table. S over a mesh dim of size 1 counts as R.
  int find(const Layout& layout) const;

 private:
  friend class Planner;
  std::shared_ptr<StateGraph> graph_;  // complete, so never changed
};

class Planner {
 public:
  // On meshes of more mesh dims (of size above 1) a mesh dim takes only R and what it has in source
  // or target.
  static constexpr int kMostFreeMeshDims = 5;

  explicit Planner(std::shared_ptr<const CostModel> model, size_t memo_capacity = 1 << 16);

  const CostModel& model() const { return *model_; }
  const Mesh& mesh() const { return model_->mesh(); }

  // The cheapest plan. Errors: layouts that cannot place the tensors, a target that the policy
  // refuses, no plan under the memory cap.
  Result<std::shared_ptr<const Plan>> plan(std::span<const TensorMeta> group, const Layout& from,
                                           const Layout& to, const PlanOptions& options = {}) {
    return plan(group, from, to, options, /*explains=*/true);
  }
  Result<std::shared_ptr<const Plan>> plan(const TensorMeta& tensor, const Layout& from,
                                           const Layout& to, const PlanOptions& options = {}) {
    return plan(std::span(&tensor, 1), from, to, options);
  }

  // The same where only the plan matters: without one, NotFound does not say what would do, which
  // takes many searches.
  Result<std::shared_ptr<const Plan>> plan_if_any(std::span<const TensorMeta> group,
                                                  const Layout& from, const Layout& to,
                                                  const PlanOptions& options) {
    return plan(group, from, to, options, /*explains=*/false);
  }

  // Made once per argument list and kept. Refused where it would have more than 2^16 layouts.
  Result<LayoutTable> table(int tensor_ndim, std::vector<std::string> kinds,
                            std::span<const Layout* const> strided = {},
                            bool allow_shard_to_partial = false);
  // The cost in us of moving from `from`, which is in the table, to each of its layouts; infinity
  // where the policy refuses the layout or no chain stays under the memory cap. `costs_us` has
  // table.size() entries. The table decides allow_shard_to_partial. All dims of the table must be
  // the group's.
  Status costs_to_all(std::span<const TensorMeta> group, const Layout& from,
                      const LayoutTable& table, const PlanOptions& options,
                      std::span<double> costs_us) const;

  // For searches of one's own over the same states; see GraphStore.
  GraphStore& graphs() { return graphs_; }
  // Keeps a plan that such a search found, as `plan` would have found it.
  std::shared_ptr<const Plan> keep(std::span<const TensorMeta> group, const PlanOptions& options,
                                   std::shared_ptr<const Plan> plan);

  MemoCounters counters() const { return memo_.counters(); }
  size_t memo_size() const { return memo_.size(); }
  void clear_memo() { memo_.clear(); }

 private:
  Result<std::shared_ptr<const Plan>> plan(std::span<const TensorMeta> group, const Layout& from,
                                           const Layout& to, const PlanOptions& options,
                                           bool explains);
  Result<std::shared_ptr<const Plan>> search(std::span<const TensorMeta> group, const Layout& from,
                                             const Layout& to, const PlanOptions& options,
                                             bool explains);

  std::shared_ptr<const CostModel> model_;
  Memo<std::shared_ptr<const Plan>> memo_;
  GraphStore graphs_;
};

}  // namespace onedim
