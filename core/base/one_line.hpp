#pragma once
// One line: what foreign text (a pack's error, a file's name) becomes before it is printed where
// each line means something.

#include <string>
#include <string_view>

namespace onedim {

// `text` without line ends and tabs, which become spaces; other control characters, such as those
// that move a terminal's cursor, become `?`.
std::string one_line(std::string_view text);

}  // namespace onedim
