#pragma once
// Network check: what a cost network must be before anything is made of it.

#include "core/base/status.hpp"
#include "core/solve/cost_network.hpp"

namespace onedim {

// Sizes and indices agree and bytes are not negative; the error names the node or edge.
Status check_network(const CostNetwork& network);

}  // namespace onedim
