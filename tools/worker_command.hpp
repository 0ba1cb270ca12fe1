#pragma once
// Worker command: how the command starts itself again for the part of a child, which loads the
// packs that its parent has tried. What a pack does there costs the child alone.

#include <string>
#include <vector>

#include "core/pack/pack_loader.hpp"

namespace onedim {

// `part` is the sub-command and its flags.
std::vector<std::string> child_command(std::vector<std::string> part,
                                       const std::vector<PackReport>& packs);

}  // namespace onedim
