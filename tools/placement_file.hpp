#pragma once
// Placement file: the lines of `--place FILE`, which say where values of a graph lie
// (core/graph/placement_lines.hpp).

#include <string>
#include <vector>

#include "core/graph/placement_lines.hpp"

namespace onedim {

// None where `path` is empty: the flag was not typed.
Result<std::vector<PlacementLine>> read_placement_file(const std::string& path);

}  // namespace onedim
