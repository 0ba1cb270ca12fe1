#pragma once
// MovePrices: what it costs to bring a tensor from one layout to another, by the redistribution
// planner: from each source one search finds the prices of all targets. Kept by tensor, so equal
// tensors share them. Not thread-safe.

#include <map>
#include <set>

#include "core/plan/layout_pool.hpp"
#include "core/redistribute/planner.hpp"
#include "core/solve/cost_network.hpp"

namespace onedim {

class MovePrices {
 public:
  // Both are borrowed.
  MovePrices(Planner& planner, const PlanOptions& options, const LayoutPool& pool)
      : planner_(planner), options_(options), pool_(pool) {}

  // In ps, row by row: from each of `from` to each of `to`; kForbidden where no plan leads there.
  Result<std::vector<Cost>> between(const TensorMeta& tensor, std::span<const LayoutId> from,
                                    std::span<const LayoutId> to);

  const PlanOptions& options() const { return options_; }

 private:
  using Known = absl::flat_hash_map<std::pair<LayoutId, LayoutId>, Cost>;

  Result<LayoutTable> table_of(int tensor_ndim, const std::set<std::string>& kinds,
                               std::span<const Layout* const> layouts);
  Status search_all(const TensorMeta& tensor, LayoutId from, std::span<const LayoutId> to,
                    Known& known);
  Status plan_each(const TensorMeta& tensor, LayoutId from, std::span<const LayoutId> to,
                   Known& known);
  bool may_search_all() const;

  Planner& planner_;
  PlanOptions options_;
  const LayoutPool& pool_;
  absl::flat_hash_map<MemoKey, Known> by_tensor_;
  std::map<std::string, LayoutTable> tables_;
};

}  // namespace onedim
