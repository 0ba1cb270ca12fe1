#pragma once
// Input file: the text of a file that the user names, plain or gzip (told apart by content, not by
// name). Missing and damaged files are the caller's bad input; files that are there but cannot be
// read, and folders, are the environment's fault. The errors name the file.

#include <string>

#include "core/base/status.hpp"

namespace onedim {

Result<std::string> read_text_file(const std::string& path);

}  // namespace onedim
