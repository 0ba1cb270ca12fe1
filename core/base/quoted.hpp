#pragma once
// Quoted: JSON strings. Reading decodes all of JSON's escapes to UTF-8; writing escapes only what
// it must.

#include <string>
#include <string_view>

#include "core/base/scanner.hpp"

namespace onedim {

// The string that starts at the scanner's `"`, decoded; the scanner then stands behind it.
Result<std::string> scan_quoted(Scanner& scanner);

// `"a \"b\""`.
std::string format_quoted(std::string_view text);

}  // namespace onedim
