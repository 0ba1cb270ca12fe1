#pragma once
// Terminal: the progress line, one line on stderr that is rewritten in place. It exists only where
// stderr is a terminal; it is wiped before anything else is written there, and when Ctrl-C ends the
// command. A terminal that cannot move its cursor (TERM=dumb, or none) gets no progress.

#include <string_view>

namespace onedim {

void show_progress(std::string_view text);
void clear_progress();
// Wipes a line that a child of this process may have left there.
void wipe_line_of_child();

}  // namespace onedim
