#include "core/graph/json_file.hpp"

#include <cctype>

#include "core/base/input_file.hpp"

namespace onedim {
namespace {

// The reader's words without its capital letter and full stop.
std::string json_fault(simdjson::error_code error) {
  std::string text = simdjson::error_message(error);
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

Result<JsonFile> parse_json(const std::string& text, const std::string& name,
                            std::string_view format) {
  JsonFile file{std::make_unique<simdjson::dom::parser>(), {}};
  if (const simdjson::error_code error = file.parser->parse(text).get(file.root)) {
    return invalid_argument("\"{}\" is not JSON: {}", name, json_fault(error));
  }
  simdjson::dom::object object;
  if (file.root.get(object) != simdjson::SUCCESS) {
    return invalid_argument("\"{}\" holds no JSON object; expected format \"{}\"", name, format);
  }
  std::string_view found;
  if (object["format"].get(found) == simdjson::SUCCESS && found != format) {
    return invalid_argument("\"{}\" is in format \"{}\"; expected \"{}\"", name, found, format);
  }
  return file;
}

Result<JsonFile> read_json_file(const std::string& path, std::string_view format) {
  const Result<std::string> text = read_text_file(path);
  if (!text.ok()) return text.status();
  return parse_json(*text, path, format);
}

}  // namespace onedim
