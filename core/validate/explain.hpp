#pragma once
// Explain: a refutation in numbers: the world, what every rank held of each input and computed,
// what that joins to and what the op gives on whole tensors. Of tensors of more than a few elements
// the failing one is shown, if they have it.

#include <string>

#include "core/pack/rule.hpp"
#include "core/validate/place.hpp"

namespace onedim {

// `rule` is known to fail at `place` within `draws` draws, at `output`.
std::string explain_refutation(Place& place, const Rule& rule, int output, int draws);

}  // namespace onedim
