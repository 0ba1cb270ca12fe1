#include "tools/placement_file.hpp"

#include "core/base/input_file.hpp"

namespace onedim {

Result<std::vector<PlacementLine>> read_placement_file(const std::string& path) {
  if (path.empty()) return std::vector<PlacementLine>{};
  const Result<std::string> text = read_text_file(path);
  if (!text.ok()) return annotate(text.status(), "--place");
  Result<std::vector<PlacementLine>> lines = parse_placement_lines(*text);
  if (!lines.ok()) return annotate(lines.status(), path);
  return lines;
}

}  // namespace onedim
