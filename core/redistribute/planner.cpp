#include "core/redistribute/planner.hpp"

#include <algorithm>
#include <limits>

#include "core/layout/layout_check.hpp"
#include "core/layout/layout_key.hpp"
#include "core/redistribute/least_memory.hpp"
#include "core/redistribute/plan_path.hpp"

namespace onedim {
namespace {

constexpr int kMostTableStates = 1 << 16;  // of tables that are asked for
constexpr int64_t kMostGroupBytes = int64_t{1} << 50;

using Members = absl::InlinedVector<GroupMember, 1>;

Members members_of(std::span<const TensorMeta> group) {
  Members members;
  for (const TensorMeta& meta : group) members.push_back({meta.shape, size_of(meta.dtype)});
  return members;
}

int least_ndim(std::span<const TensorMeta> group) {
  size_t ndim = group[0].shape.size();
  for (const TensorMeta& meta : group) ndim = std::min(ndim, meta.shape.size());
  return static_cast<int>(ndim);
}

bool has_own_kind(const Layout& layout) {
  return std::any_of(layout.placements.begin(), layout.placements.end(), [](const Placement& p) {
    return p.is_partial() && !is_builtin_partial(p.partial);
  });
}

// The dims that may be cut: of a state, whose parts are merged together, the leading ones that all
// its tensors share.
int movable_ndim(std::span<const TensorMeta> group, const Layout& from, const Layout& to) {
  const int ndim = least_ndim(group);
  if (!has_own_kind(from) && !has_own_kind(to)) return ndim;
  for (int dim = 0; dim < ndim; ++dim) {
    if (std::any_of(group.begin(), group.end(),
                    [&](const TensorMeta& meta) { return meta.shape[dim] != group[0].shape[dim]; }))
      return dim;
  }
  return ndim;
}

// Whether all tensors of the group have size 1 there: then a shard of the dim is none.
bool is_unit_dim(std::span<const TensorMeta> group, int dim) {
  return std::all_of(group.begin(), group.end(), [&](const TensorMeta& meta) {
    return dim >= 0 && dim < static_cast<int>(meta.shape.size()) && meta.shape[dim] == 1;
  });
}

bool cuts_unit_dims(std::span<const TensorMeta> group, const Layout& layout) {
  return std::any_of(layout.placements.begin(), layout.placements.end(),
                     [&](const Placement& p) { return p.is_shard() && is_unit_dim(group, p.dim); });
}

Layout drop_unit_dims(std::span<const TensorMeta> group, const Layout& layout, const Mesh& mesh) {
  Dims shape = group[0].shape;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (!is_unit_dim(group, static_cast<int>(dim))) shape[dim] = std::max<int64_t>(2, shape[dim]);
  }
  return onedim::drop_unit_dims(layout, mesh, shape);
}

Status check_group(std::span<const TensorMeta> group) {
  if (group.empty()) return invalid_argument("a redistribution of no tensors");
  for (const TensorMeta& meta : group) {
    const int64_t count = checked_volume(meta.shape);
    if (count >= 0 && count <= kMostGroupBytes / size_of(meta.dtype)) continue;
    return invalid_argument("tensor {} has more than 2^50 bytes or a negative size",
                            format_meta(meta));
  }
  return {};
}

Status check_shared_dims(std::span<const TensorMeta> group, const Layout& from, const Layout& to) {
  const int ndim = movable_ndim(group, from, to);
  for (const Layout* layout : {&from, &to}) {
    for (const Placement& placement : layout->placements) {
      if (!placement.is_shard() || placement.dim < ndim) continue;
      std::string tensors;
      for (const TensorMeta& meta : group)
        tensors += (tensors.empty() ? "" : ", ") + format_meta(meta);
      return invalid_argument("{} shards a dim that the tensors of the state do not share: {}",
                              format_placement(placement), tensors);
    }
  }
  return {};
}

// Two layouts that follow each other in one plan.
Status check_kinds(const Layout& from, const Layout& to) {
  for (const Layout* layout : {&from, &to}) {
    for (const Placement& placement : layout->placements) {
      if (!placement.is_partial() || placement.component == 0) continue;
      return invalid_argument(
          "{} is one tensor of a group; a group's layout is written with component 0",
          format_placement(placement));
    }
  }
  return {};
}

Status check_layouts(std::span<const TensorMeta> group, const Layout& from, const Layout& to,
                     const Mesh& mesh, Policy policy) {
  if (const Status status = check_kinds(from, to); !status.ok()) return status;
  for (const TensorMeta& meta : group) {
    for (const Layout* layout : {&from, &to}) {
      if (const Status status = check_placements(meta, *layout, mesh); !status.ok()) return status;
    }
    if (from == to) continue;
    if (const Status status = check_policy(meta, to, mesh, policy); !status.ok()) return status;
  }
  return check_shared_dims(group, from, to);
}

MemoKey key_of(std::span<const TensorMeta> group, const Layout& from, const Layout& to,
               const PlanOptions& options) {
  MemoKey key;
  key.push_back(static_cast<uint64_t>(options.policy) |
                static_cast<uint64_t>(options.allow_shard_to_partial) << 8 | group.size() << 16);
  key.push_back(static_cast<uint64_t>(options.memory_bytes));
  key.push_back(static_cast<uint64_t>(options.from_outermost) << 8 |
                static_cast<uint64_t>(options.to_outermost));
  for (const TensorMeta& meta : group) {
    // Of the dtype its size matters, and which kinds it may have: that is checked on each miss.
    key.push_back(meta.shape.size() << 8 | static_cast<uint64_t>(meta.dtype));
    for (int64_t size : meta.shape) key.push_back(static_cast<uint64_t>(size));
  }
  append_key(from, key);
  append_key(to, key);
  return key;
}

// Mesh dims of more than one rank.
int parted_mesh_dims(const Mesh& mesh) {
  return static_cast<int>(std::count_if(mesh.sizes().begin(), mesh.sizes().end(),
                                        [](int64_t size) { return size > 1; }));
}

// The least cap under which there is a plan, where that of `request` does not do; nothing if there
// is none at all.
std::optional<int64_t> least_sufficient_memory(PlanSearch& search, StateGraph& graph,
                                               SearchRequest request, int source, int target) {
  const auto needs = [&](int64_t cap) -> std::optional<int64_t> {
    request.memory_bytes = cap;
    const auto path = search.find(graph, request, source, target);
    return path ? std::optional(peak_bytes(*path)) : std::nullopt;
  };
  const int64_t too_little = request.memory_bytes;
  const std::optional<int64_t> enough = needs(kWidestCap);
  if (!enough) return std::nullopt;
  return least_memory(too_little, *enough, needs);
}

// Per thread, as its memory is kept for the next search.
PlanSearch& own_search() {
  thread_local PlanSearch search;
  return search;
}

}  // namespace

int LayoutTable::find(const Layout& layout) const {
  if (layout.placements.size() != static_cast<size_t>(graph_->alphabet().full_mesh_ndim()))
    return -1;
  const std::optional<StateCode> code = graph_->alphabet().encode(layout);
  return code ? graph_->find(*code) : -1;
}

Planner::Planner(std::shared_ptr<const CostModel> model, size_t memo_capacity)
    : model_(std::move(model)), memo_(memo_capacity), graphs_(model_->mesh()) {}

Result<std::shared_ptr<const Plan>> Planner::plan(std::span<const TensorMeta> group,
                                                  const Layout& from, const Layout& to,
                                                  const PlanOptions& options, bool explains) {
  const MemoKey key = key_of(group, from, to, options);
  if (std::optional<std::shared_ptr<const Plan>> known = memo_.find(key)) return *known;
  if (cuts_unit_dims(group, from) || cuts_unit_dims(group, to)) {
    if (Status status = check_layouts(group, from, to, mesh(), Policy::kAny); !status.ok())
      return status;
    return plan(group, drop_unit_dims(group, from, mesh()), drop_unit_dims(group, to, mesh()),
                options, explains);
  }
  Result<std::shared_ptr<const Plan>> plan = search(group, from, to, options, explains);
  if (!plan.ok()) return plan;
  return memo_.insert(key, *std::move(plan));
}

std::shared_ptr<const Plan> Planner::keep(std::span<const TensorMeta> group,
                                          const PlanOptions& options,
                                          std::shared_ptr<const Plan> plan) {
  const MemoKey key = key_of(group, plan->from, plan->to, options);
  return memo_.insert(key, std::move(plan));
}

Result<std::shared_ptr<const Plan>> Planner::search(std::span<const TensorMeta> group,
                                                    const Layout& from, const Layout& to,
                                                    const PlanOptions& options, bool explains) {
  if (Status status = check_group(group); !status.ok()) return status;
  if (Status status = check_layouts(group, from, to, mesh(), options.policy); !status.ok())
    return status;
  const std::array<const Layout*, 2> layouts = {&from, &to};
  const int ndim = movable_ndim(group, from, to), least = least_ndim(group);
  for (const int outermost : {options.from_outermost, options.to_outermost}) {
    if (outermost == 0 || (outermost > 0 && outermost < least)) continue;
    return invalid_argument("dim {} cannot be outermost in memory: the tensor has {} dims",
                            outermost, least);
  }
  Result<std::shared_ptr<StateGraph>> graph =
      graphs_.lease({ndim, partial_kinds(from, to), layouts, options.allow_shard_to_partial,
                     parted_mesh_dims(mesh()) > kMostFreeMeshDims});
  if (!graph.ok()) return graph.status();
  const Members members = members_of(group);
  SearchRequest request{model_.get(),
                        members,
                        options.policy,
                        options.memory_bytes,
                        options.allow_shard_to_partial,
                        options.from_outermost,
                        options.to_outermost};
  const int source = (*graph)->intern(*(*graph)->alphabet().encode(from));
  const int target = (*graph)->intern(*(*graph)->alphabet().encode(to));
  PlanSearch& search = own_search();
  const std::optional<std::vector<PathStep>> path = search.find(**graph, request, source, target);
  if (!path && !explains) return absl::NotFoundError("no plan");
  if (!path) {
    const std::optional<int64_t> enough =
        least_sufficient_memory(search, **graph, request, source, target);
    return absl::NotFoundError(
        enough ? fmt::format("no plan from {} to {} stays within {} bytes a rank; the least that "
                             "would do is {}",
                             format_layout(from, mesh()), format_layout(to, mesh()),
                             options.memory_bytes, *enough)
               : fmt::format("no plan from {} to {}: the cost model gives no finite price",
                             format_layout(from, mesh()), format_layout(to, mesh())));
  }
  return make_plan(*path, **graph, request, from, to);
}

Result<LayoutTable> Planner::table(int tensor_ndim, std::vector<std::string> kinds,
                                   std::span<const Layout* const> strided,
                                   bool allow_shard_to_partial) {
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  Result<std::shared_ptr<StateGraph>> graph =
      graphs_.lease({tensor_ndim, std::move(kinds), strided, allow_shard_to_partial, false});
  if (!graph.ok()) return graph.status();
  if ((*graph)->is_complete()) return LayoutTable(*std::move(graph));
  // A leased graph grows on; a table's may not.
  auto whole = std::make_shared<StateGraph>((*graph)->alphabet(), allow_shard_to_partial);
  if (!whole->complete(kMostTableStates)) {
    return unimplemented(
        "a table of all layouts of tensors of {} dims on the mesh {}, which are "
        "more than 2^16",
        tensor_ndim, mesh().format());
  }
  return LayoutTable(std::move(whole));
}

Status Planner::costs_to_all(std::span<const TensorMeta> group, const Layout& from,
                             const LayoutTable& table, const PlanOptions& options,
                             std::span<double> costs_us) const {
  if (Status status = check_group(group); !status.ok()) return status;
  const int source = table.find(from);
  if (source < 0 || table.graph_->alphabet().tensor_ndim() > least_ndim(group)) {
    return invalid_argument("layout {} of {} is not in the table of layouts",
                            format_layout(from, mesh()), format_meta(group[0]));
  }
  const Members members = members_of(group);
  const SearchRequest request{model_.get(), members, options.policy, options.memory_bytes};
  const std::span<const PathCost> costs = own_search().find_all(*table.graph_, request, source);
  for (int state = 0; state < table.size(); ++state) {
    costs_us[state] = costs[state].ps >= kImpossible ? std::numeric_limits<double>::infinity()
                                                     : static_cast<double>(costs[state].ps) / 1e6;
  }
  return {};
}

}  // namespace onedim
