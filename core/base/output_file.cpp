#include "core/base/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/text.hpp"

namespace onedim {

Status not_writable(const std::string& path, int error) {
  return absl::UnavailableError(
      fmt::format("cannot write {}: {}", quoted_excerpt(path), std::strerror(error)));
}

Status write_text_file(const std::string& path, std::string_view text) {
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return not_writable(path, errno);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  // What is buffered may find the disk full only now.
  if (std::fclose(file) != 0) return not_writable(path, is_written ? errno : error);
  return is_written ? absl::OkStatus() : not_writable(path, error);
}

}  // namespace onedim
