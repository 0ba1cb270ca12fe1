#pragma once
// Output file: writes a whole file; what stood there is replaced. A fault is the environment's, and
// names the file and the system's reason.

#include <string>

#include "core/base/status.hpp"

namespace onedim {

// `cannot write "out.json": Permission denied`, for `error`, an errno.
Status not_writable(const std::string& path, int error);

Status write_text_file(const std::string& path, std::string_view text);

}  // namespace onedim
