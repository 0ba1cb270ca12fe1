#include "core/cost/measurement.hpp"

#include <algorithm>
#include <charconv>

namespace onedim {
namespace {

std::vector<std::string_view> split_words(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  size_t begin = text.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

bool has_word(const MeasurementLine& line, std::string_view word) {
  return std::find(line.words.begin(), line.words.end(), word) != line.words.end();
}

}  // namespace

std::vector<MeasurementLine> measurement_lines(std::string_view text) {
  std::vector<MeasurementLine> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    lines.push_back({static_cast<int64_t>(lines.size()) + 1, line, split_words(line)});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::vector<Measurement>> parse_measurements(std::string_view text, const std::string& file,
                                                    const MeasurementOptions& options) {
  for (const MeasurementLine& line : measurement_lines(text)) {
    if (has_word(line, "Group") && has_word(line, "Collective")) {
      return parse_collective_table(text, file, options);
    }
    if (has_word(line, "time") && has_word(line, "busbw")) {
      return parse_nccl_tests(text, file, options);
    }
  }
  return invalid_argument(
      "{} is no measurement: neither output of nccl-tests (titles with time and busbw) nor a table "
      "of collectives (titles Group, Group Size, Collective)",
      file);
}

}  // namespace onedim
