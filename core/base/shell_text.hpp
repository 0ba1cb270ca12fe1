#pragma once
// Shell text: words of a command line that is printed to be pasted.

#include <string>
#include <string_view>

namespace onedim {

// `text` as one word of the shell: as it is where that is safe, else in single quotes.
std::string shell_word(std::string_view text);

}  // namespace onedim
