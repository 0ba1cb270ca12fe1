#pragma once
// Wide cost: sums of costs, which may exceed what a Cost holds (ten forbidden costs do), and their
// text.

#include <string>

#include "core/solve/cost_network.hpp"

namespace onedim {

__extension__ using WideCost = __int128;

// Decimal digits, with a minus sign if negative.
std::string format_wide(WideCost cost);

}  // namespace onedim
