#include "core/redistribute/receive_bound.hpp"

#include <algorithm>

#include "core/redistribute/step_kind.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostRanksWalked = int64_t{1} << 20;  // a mesh has no more

bool stays_partial(const Placement& from, const Placement& to) {
  return from.is_partial() &&
         (from == to || (is_linear_partial(from.partial) && is_linear_partial(to.partial)));
}

int64_t reduction_bound(std::span<const GroupMember> group, const Layout& from, const Layout& to,
                        const Mesh& mesh) {
  int64_t reduced = 1, copies = 1, ranks = 1;
  for (int d = 0; d < mesh.ndim(); ++d) {
    const Placement &before = from.placements[d], &after = to.placements[d];
    if (stays_partial(before, after)) continue;  // each coordinate holds values of its own
    ranks *= mesh.size(d);
    if (before.is_partial()) reduced *= mesh.size(d);
    if (after.is_replicate()) copies *= mesh.size(d);
  }
  if (reduced == 1) return 0;
  int64_t bytes = 0;
  for (const GroupMember& member : group) bytes += volume(member.shape) * member.element_size;
  const int64_t transfers = reduced - 1 + copies - 1;  // of each element, over `ranks`
  return bytes / ranks * transfers + bytes % ranks * transfers / ranks;
}

// Where no shard becomes a partial, a new partial is made of replicas: one rank at least of each
// group has had all of it, and ranks receive what they would receive for R.
Layout before_it_is_partial(const Layout& from, const Layout& to) {
  Layout layout = to;
  for (size_t d = 0; d < layout.placements.size(); ++d) {
    if (to.placements[d].is_partial() && !stays_partial(from.placements[d], to.placements[d]))
      layout.placements[d] = Placement::replicate();
  }
  return layout;
}

// How many ranks may share what a new partial is to hold; 0 if one may keep its shard as its share.
int64_t partial_shares(const Layout& from, const Layout& to, const Mesh& mesh) {
  int64_t shares = 1;
  for (int d = 0; d < mesh.ndim(); ++d) {
    const Placement &before = from.placements[d], &after = to.placements[d];
    if (!after.is_partial() || stays_partial(before, after) || mesh.size(d) == 1) continue;
    if (before.is_shard()) return 0;
    shares *= mesh.size(d);
  }
  return shares;
}

}  // namespace

int64_t receive_bound(std::span<const GroupMember> group, const Layout& from, const Layout& to,
                      const Mesh& mesh, int tensor_ndim, bool allow_shard_to_partial) {
  if (!allow_shard_to_partial)
    return receive_bound(group, from, before_it_is_partial(from, to), mesh, tensor_ndim, true);
  const int64_t lacking = most_missing_bytes(group, cuts_of(from, mesh, tensor_ndim),
                                             cuts_of(to, mesh, tensor_ndim), kMostRanksWalked);
  const int64_t shares = partial_shares(from, to, mesh);
  return std::max(shares == 0 ? 0 : lacking / shares, reduction_bound(group, from, to, mesh));
}

}  // namespace onedim
