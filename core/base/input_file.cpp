#include "core/base/input_file.hpp"

#include <zlib.h>

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

}  // namespace onedim
