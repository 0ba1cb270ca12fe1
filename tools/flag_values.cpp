#include "tools/flag_values.hpp"

#include <charconv>

#include "core/base/text.hpp"

namespace onedim {
namespace {

constexpr uint64_t kMostRanks = 64;
constexpr double kMostSeconds = 86400;

// The whole of `text` as a number.
template <typename T>
bool read_number(std::string_view text, T& number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end;
}

}  // namespace

Result<uint64_t> parse_whole(std::string_view flag, std::string_view text, uint64_t least,
                             uint64_t most) {
  uint64_t number = 0;
  if (read_number(text, number) && number >= least && number <= most) return number;
  return invalid_argument("{}: {} is no whole number from {} to {}", flag, quoted_excerpt(text),
                          least, most);
}

Result<double> parse_seconds(std::string_view flag, std::string_view text) {
  double seconds = 0;
  if (read_number(text, seconds) && seconds > 0 && seconds <= kMostSeconds) return seconds;
  return invalid_argument("{}: {} is no number of seconds above 0, at most {}", flag,
                          quoted_excerpt(text), kMostSeconds);
}

Result<std::vector<int64_t>> parse_worlds(std::string_view flag, std::string_view text) {
  std::vector<int64_t> worlds;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view piece = trim(text.substr(at, end - at));
    uint64_t ranks = 0;
    if (!read_number(piece, ranks) || ranks < 2 || ranks > kMostRanks) {
      return invalid_argument("{}: {} is no number of ranks from 2 to {}, such as 2,3,4", flag,
                              quoted_excerpt(piece), kMostRanks);
    }
    worlds.push_back(static_cast<int64_t>(ranks));
    at = end + 1;
  }
  return worlds;
}

}  // namespace onedim
