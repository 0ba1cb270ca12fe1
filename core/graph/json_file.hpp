#pragma once
// JSON file: a document that says its `format`, parsed.

#include <simdjson.h>

#include <memory>
#include <string>

#include "core/base/status.hpp"

namespace onedim {

// The root points into the parser, which therefore must not move.
struct JsonFile {
  std::unique_ptr<simdjson::dom::parser> parser;
  simdjson::dom::element root;
};

// `name` stands for the text in errors. The root must be an object; if it says its `format`, that
// must be `format`.
Result<JsonFile> parse_json(const std::string& text, const std::string& name,
                            std::string_view format);

// The text of a file, plain or gzip.
Result<JsonFile> read_json_file(const std::string& path, std::string_view format);

}  // namespace onedim
