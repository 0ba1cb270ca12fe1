#pragma once
// Terminal: the progress line, one line on stderr that is rewritten in place. It exists only where
// stderr is a terminal; it is wiped before anything else is written there, and when Ctrl-C ends the
// command.

#include <string_view>

namespace onedim {

void show_progress(std::string_view text);
void clear_progress();

}  // namespace onedim
