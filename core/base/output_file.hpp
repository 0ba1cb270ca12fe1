#pragma once
// Output file: writes a whole file; what stood there is replaced. A fault is the environment's, and
// names the file.

#include <string>

#include "core/base/status.hpp"

namespace onedim {

Status write_text_file(const std::string& path, std::string_view text);

}  // namespace onedim
