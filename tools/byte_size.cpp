#include "tools/byte_size.hpp"

#include <array>
#include <charconv>

#include "core/base/text.hpp"

namespace onedim {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr std::array<Unit, 10> kUnits = {{{"", 1},
                                          {"B", 1},
                                          {"KB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12},
                                          {"KiB", 0x1p10},
                                          {"MiB", 0x1p20},
                                          {"GiB", 0x1p30},
                                          {"TiB", 0x1p40}}};

}  // namespace

Result<int64_t> parse_byte_size(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = trim(text.substr(static_cast<size_t>(end - text.data())));
  for (const Unit& known : kUnits) {
    if (error != std::errc() || unit != known.name) continue;
    const double bytes = number * known.bytes;
    if (bytes >= 1 && bytes < 0x1p62) return static_cast<int64_t>(bytes);
  }
  return invalid_argument("{} is not a size in bytes, expected one such as 4096, 80GB or 1.5GiB",
                          quoted_excerpt(text));
}

}  // namespace onedim
