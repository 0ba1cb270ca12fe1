#include "core/base/output_file.hpp"

#include <fstream>

#include "core/base/text.hpp"

namespace onedim {

Status write_text_file(const std::string& path, std::string_view text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (stream) return absl::OkStatus();
  return absl::UnavailableError(fmt::format("{} could not be written", quoted_excerpt(path)));
}

}  // namespace onedim
