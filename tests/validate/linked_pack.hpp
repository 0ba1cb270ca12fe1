#pragma once
// Linked pack: a pack that is linked into the test program, staged by itself.

#include "core/pack/registry.hpp"
#include "core/pack/staging.hpp"

namespace onedim {

// Owned by the program. A pack that cannot be staged, or refers to what is not there, ends it.
const Registry* make_registry(const onedim_pack_t& pack, const char* path);

}  // namespace onedim
