#pragma once
// The packs of this build, loaded once a test program.

#include "core/pack/registry.hpp"

namespace onedim {

const Registry& shipped_registry();

}  // namespace onedim
