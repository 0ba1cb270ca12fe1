#include "tools/input_file.hpp"

#include <zlib.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace onedim {
namespace {

struct CloseGzip {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

Status not_readable(const std::string& path, std::string_view why) {
  return absl::UnavailableError(fmt::format("cannot read \"{}\": {}", path, why));
}

Status not_readable(const std::string& path, int error) {
  if (error != ENOENT && error != ENOTDIR) return not_readable(path, std::strerror(error));
  return invalid_argument("cannot read \"{}\": {}", path, std::strerror(error));
}

Status gzip_status(gzFile file, const std::string& path) {
  int code = Z_OK;
  const char* message = gzerror(file, &code);
  if (code == Z_OK || code == Z_STREAM_END) return absl::OkStatus();
  if (code == Z_ERRNO) return not_readable(path, errno);
  return invalid_argument("cannot read \"{}\": {}", path,
                          code == Z_BUF_ERROR
                              ? "the compressed data ends too early"
                              : fmt::format("damaged compressed data ({})", message));
}

// The reader's words without its capital letter and full stop.
std::string json_fault(simdjson::error_code error) {
  std::string text = simdjson::error_message(error);
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return not_readable(path, "it is a folder");
  errno = 0;
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (file == nullptr) return not_readable(path, errno != 0 ? errno : ENOMEM);
  gzbuffer(file.get(), 1 << 18);
  std::string text;
  std::string chunk(1 << 20, '\0');
  int count = 0;
  while ((count = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()))) > 0) {
    text.append(chunk, 0, static_cast<size_t>(count));
  }
  const Status status = gzip_status(file.get(), path);
  if (!status.ok()) return status;
  return text;
}

Result<JsonFile> read_json_file(const std::string& path, std::string_view format) {
  const Result<std::string> text = read_text_file(path);
  if (!text.ok()) return text.status();
  JsonFile file{std::make_unique<simdjson::dom::parser>(), {}};
  if (const simdjson::error_code error = file.parser->parse(*text).get(file.root)) {
    return invalid_argument("\"{}\" is not JSON: {}", path, json_fault(error));
  }
  simdjson::dom::object object;
  if (file.root.get(object) != simdjson::SUCCESS) {
    return invalid_argument("\"{}\" holds no JSON object; expected format \"{}\"", path, format);
  }
  std::string_view found;
  if (object["format"].get(found) == simdjson::SUCCESS && found != format) {
    return invalid_argument("\"{}\" is in format \"{}\"; expected \"{}\"", path, found, format);
  }
  return file;
}

}  // namespace onedim
