#pragma once
// A pack that is linked into the validator's tests: a handful of ops with right rules, and the same
// ops with rules that are wrong, missing, too narrow or too wide.

#include "core/pack/registry.hpp"

namespace onedim {

// Owned by the program; staged on first use.
const Registry& small_registry();

}  // namespace onedim
