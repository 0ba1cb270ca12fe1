#pragma once
// Input state: an input that is a partial of a pack whose state is hidden moves as the tensors of
// that state, which a request gives beside it.

#include <span>

#include "core/pack/registry.hpp"

namespace onedim {

// The kind of a pack that `layout` has somewhere; null if it has none, or no pack offers it.
const PartialKind* own_kind(const Registry& registry, const Layout& layout);

// Whether `state` can be that of an input of `meta` under `layout`: tensors in the number that the
// kind has, all of the input's shape. Errors say what is wrong; where it stands is the caller's.
Status check_input_state(const Registry& registry, const TensorMeta& meta, const Layout& layout,
                         std::span<const TensorMeta> state);

}  // namespace onedim
