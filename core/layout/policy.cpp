#include "core/layout/policy.hpp"

#include <array>

#include "core/base/text.hpp"

namespace onedim {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"even", "nonempty", "fits", "any"};

std::string_view fault_of(Policy policy) {
  switch (policy) {
    case Policy::kEven:
      return "does not divide";
    case Policy::kNonempty:
      return "leaves some ranks empty";
    case Policy::kFits:
      return "has fewer indices than ranks";
    case Policy::kAny:
      break;
  }
  return "";
}

}  // namespace

std::string_view policy_name(Policy policy) { return kNames[static_cast<size_t>(policy)]; }

Result<Policy> parse_policy(std::string_view text) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (text == kNames[i]) return static_cast<Policy>(i);
  }
  const std::vector<std::string> names(kNames.begin(), kNames.end());
  return invalid_argument("unknown policy {}, expected one of even nonempty fits any{}",
                          quoted_excerpt(text), did_you_mean(text, names));
}

Status check_policy(const TensorMeta& meta, const Layout& layout, const Mesh& mesh, Policy policy) {
  if (policy == Policy::kAny || meta.element_count() == 0) return {};
  std::vector<CutLengths> lengths(meta.shape.begin(), meta.shape.end());
  for (int64_t mesh_dim : layout.cutting_order()) {
    const Placement& placement = layout.placements[mesh_dim];
    const int64_t parts = mesh.size(static_cast<int>(mesh_dim));
    if (!placement.is_shard() || parts == 1) continue;
    const int64_t before = lengths[placement.dim].longest();
    if (allows(policy, lengths[placement.dim].cut(cut_of(placement, parts)))) continue;
    return invalid_argument(
        "layout {} of {}: {} over mesh dim {}={} cuts a length of {}, which {}; policy {} refuses "
        "that, policy any allows it",
        format_layout(layout, mesh), format_meta(meta), format_placement(placement),
        mesh.name(static_cast<int>(mesh_dim)), parts, before, fault_of(policy),
        policy_name(policy));
  }
  return {};
}

}  // namespace onedim
