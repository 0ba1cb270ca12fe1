#pragma once
// Ops whose rules are true on one mesh dim. Those named `nested.wrong_*` are false where two mesh
// dims meet, the others hold there too.

#include "core/pack/registry.hpp"

namespace onedim {

const Registry& nested_registry();

}  // namespace onedim
