#pragma once
// Lane text: elements and where they lie, for messages.

#include <string>

#include "core/validate/lanes.hpp"

namespace onedim {

// One element: `-0.5`, `3`, `1+2j`.
std::string format_lane(const Lanes& lanes, int64_t index);
// The index of the element with this row-major linear index.
Dims index_of(const Dims& shape, int64_t linear);

}  // namespace onedim
