#pragma once
// Input file: the text of a file that the user names, plain or gzip (told apart by content, not by
// name), and JSON read from it. Missing and damaged files are the caller's bad input; files that
// are there but cannot be read, and folders, are the environment's fault. The errors name the file.

#include <simdjson.h>

#include <memory>
#include <string>

#include "core/base/status.hpp"

namespace onedim {

Result<std::string> read_text_file(const std::string& path);

// A parsed file. The root points into the parser, which therefore must not move.
struct JsonFile {
  std::unique_ptr<simdjson::dom::parser> parser;
  simdjson::dom::element root;
};
// The root must be an object; if it says its `format`, that must be `format`.
Result<JsonFile> read_json_file(const std::string& path, std::string_view format);

}  // namespace onedim
