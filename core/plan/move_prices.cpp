#include "core/plan/move_prices.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/redistribute/step_price.hpp"

namespace onedim {
namespace {

MemoKey key_of(const TensorMeta& tensor) {
  MemoKey key{static_cast<uint64_t>(tensor.dtype)};
  for (const int64_t size : tensor.shape) key.push_back(static_cast<uint64_t>(size));
  return key;
}

// A layout's strided shards, where they stand.
std::string strided_text(const Layout& layout) {
  std::string text;
  for (const Placement& placement : layout.placements) {
    const bool is_strided = placement.kind == Placement::Kind::kStridedShard;
    text += is_strided ? format_placement(placement) + "," : ",";
  }
  return text;
}

void add_kinds(const Layout& layout, std::set<std::string>& kinds) {
  for (const Placement& placement : layout.placements) {
    if (placement.is_partial()) kinds.insert(placement.partial);
  }
}

Cost cost_of(double us) { return std::isfinite(us) ? Cost{to_ps(us)} : kForbidden; }

}  // namespace

// On larger meshes a plan steps only through what source and target have, a search of all does not.
bool MovePrices::may_search_all() const {
  const Dims& sizes = planner_.mesh().sizes();
  return std::count_if(sizes.begin(), sizes.end(), [](int64_t size) { return size > 1; }) <=
         Planner::kMostFreeMeshDims;
}

// Of layouts with the same partial kinds, and strided shards in the same places.
Result<LayoutTable> MovePrices::table_of(int tensor_ndim, const std::set<std::string>& kinds,
                                         std::span<const Layout* const> layouts) {
  std::string key = std::to_string(tensor_ndim);
  for (const Layout* layout : layouts) key += ";" + strided_text(*layout);
  for (const std::string& kind : kinds) key += ";" + kind;
  if (const auto found = tables_.find(key); found != tables_.end()) return found->second;
  Result<LayoutTable> table = planner_.table(tensor_ndim, {kinds.begin(), kinds.end()}, layouts,
                                             options_.allow_shard_to_partial);
  if (table.ok()) tables_.emplace(std::move(key), *table);
  return table;
}

Status MovePrices::search_all(const TensorMeta& tensor, LayoutId from, std::span<const LayoutId> to,
                              Known& known) {
  // Strided shards stand in a table where they stand in its layouts, kinds anywhere: a search may
  // only step through what a plan may, so targets with the same ones share a table.
  std::map<std::pair<std::string, std::set<std::string>>, std::vector<LayoutId>> parts;
  for (const LayoutId target : to) {
    std::set<std::string> kinds;
    for (const LayoutId end : {from, target}) add_kinds(pool_.layout(end), kinds);
    parts[{strided_text(pool_.layout(target)), std::move(kinds)}].push_back(target);
  }
  for (const auto& [key, targets] : parts) {
    const std::array<const Layout*, 2> layouts = {&pool_.layout(from), &pool_.layout(targets[0])};
    const Result<LayoutTable> table =
        table_of(static_cast<int>(tensor.shape.size()), key.second, layouts);
    if (absl::IsUnimplemented(table.status()) || absl::IsInvalidArgument(table.status())) {
      if (Status status = plan_each(tensor, from, targets, known); !status.ok()) return status;
      continue;
    }
    if (!table.ok()) return table.status();
    std::vector<double> us(table->size());
    Status status = planner_.costs_to_all({&tensor, 1}, pool_.layout(from), *table, options_, us);
    if (!status.ok()) return status;
    for (const LayoutId target : targets) {
      const int found = table->find(pool_.layout(target));
      known[{from, target}] = found < 0 ? kForbidden : cost_of(us[found]);
    }
  }
  return absl::OkStatus();
}

Status MovePrices::plan_each(const TensorMeta& tensor, LayoutId from, std::span<const LayoutId> to,
                             Known& known) {
  for (const LayoutId target : to) {
    const Result<std::shared_ptr<const Plan>> plan =
        planner_.plan_if_any({&tensor, 1}, pool_.layout(from), pool_.layout(target), options_);
    // Targets that the policy refuses are no targets.
    known[{from, target}] = plan.ok() ? cost_of((*plan)->cost_us) : kForbidden;
  }
  return absl::OkStatus();
}

Result<std::vector<Cost>> MovePrices::between(const TensorMeta& tensor,
                                              std::span<const LayoutId> from,
                                              std::span<const LayoutId> to) {
  Known& known = by_tensor_[key_of(tensor)];
  std::vector<Cost> costs;
  costs.reserve(from.size() * to.size());
  for (const LayoutId source : from) {
    std::vector<LayoutId> missing;
    for (const LayoutId target : to) {
      if (target != source && !known.contains({source, target})) missing.push_back(target);
    }
    if (!missing.empty()) {
      Status status = may_search_all() ? search_all(tensor, source, missing, known)
                                       : plan_each(tensor, source, missing, known);
      if (!status.ok()) return status;
    }
    for (const LayoutId target : to)
      costs.push_back(target == source ? 0 : known.at({source, target}));
  }
  return costs;
}

}  // namespace onedim
