#pragma once
// A pack that is linked into the selection tests: two joint partials, one whose state is the
// outputs themselves and one that is finished into them, an op that passes them on, and ops with
// costs and rules that no shipped pack has.

#include "core/pack/registry.hpp"

namespace onedim {

// Owned by the program; staged on first use.
const Registry& joint_registry();

}  // namespace onedim
