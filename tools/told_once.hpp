#pragma once
// Told once: of several processes that one launcher has started, which is to say a line that all of
// them have to say, such as what is wrong with their command line. The first that comes says it;
// lines that differ are all said. Processes know of each other by the folder that the launcher
// keeps for its run and removes behind it. Where it has none, as where no launcher is, each speaks
// for itself: rather twice than never.

#include <string_view>

#include "tools/launch.hpp"

namespace onedim {

// Whether this process is to say the line, this time: what comes again is said again.
bool is_mine_to_tell(std::string_view line, const Variables& variables);
// By the process's own variables.
bool is_mine_to_tell(std::string_view line);

}  // namespace onedim
