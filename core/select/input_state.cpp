#include "core/select/input_state.hpp"

namespace onedim {

const PartialKind* own_kind(const Registry& registry, const Layout& layout) {
  for (const Placement& placement : layout.placements) {
    if (placement.is_partial() && !is_builtin_partial(placement.partial))
      return registry.find_partial_kind(placement.partial);
  }
  return nullptr;
}

Status check_input_state(const Registry& registry, const TensorMeta& meta, const Layout& layout,
                         std::span<const TensorMeta> state) {
  const PartialKind* kind = own_kind(registry, layout);
  if (kind == nullptr || !kind->has_hidden_state())
    return invalid_argument("the input is no partial of a pack with a hidden state; leave it out");
  if (Status status = registry.check_state_count(layout, state.size()); !status.ok()) return status;
  for (const TensorMeta& tensor : state) {
    if (tensor.shape == meta.shape) continue;
    return invalid_argument("{} is not of the input's shape {}, as all that moves as a state is",
                            format_meta(tensor), format_dims(meta.shape));
  }
  return absl::OkStatus();
}

}  // namespace onedim
