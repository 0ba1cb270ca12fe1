#pragma once
// Core part: some nodes of a core network as a network of their own, the others keeping their
// values: their edges become costs of the part's nodes, their bytes go from the capacity.

#include <span>

#include "core/solve/core_network.hpp"

namespace onedim {

// Node i of the part is nodes[i]; its `origin` are values of the core network, and points in time
// lead back to the core network's.
WorkNetwork part_of(const CoreNetwork& core, std::span<const int> nodes,
                    const std::vector<int>& values);

}  // namespace onedim
