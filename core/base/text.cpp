#include "core/base/text.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace onedim {
namespace {

constexpr std::string_view kHint = "; did you mean";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// A byte inside a character of several.
bool is_utf8_tail(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Position of the quote that closes the one at `begin`, or the last position if it stays open.
size_t closing_quote(std::string_view text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\' && text[begin] == '"') {
      ++i;
    } else if (text[i] == text[begin]) {
      return i;
    }
  }
  return text.size() - 1;
}

int depth_change(char c) {
  if (c == '(' || c == '[' || c == '{') return 1;
  if (c == ')' || c == ']' || c == '}') return -1;
  return 0;
}

// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (a[i - 1] != b[j - 1]), last[j] + 1, row[j - 1] + 1});
      const bool swaps = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swaps) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

size_t find_top_level(std::string_view text, std::string_view stops, std::string_view quotes) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quotes.find(text[i]) != text.npos) i = closing_quote(text, i);
    if (depth == 0 && stops.find(text[i]) != stops.npos) return i;
    depth = std::max(depth + depth_change(text[i]), 0);
  }
  return text.size();
}

std::vector<std::string_view> split_top_level(std::string_view text, char separator,
                                              std::string_view quotes) {
  std::vector<std::string_view> pieces;
  if (trim(text).empty()) return pieces;
  while (true) {
    const size_t end = find_top_level(text, std::string_view(&separator, 1), quotes);
    pieces.push_back(trim(text.substr(0, end)));
    if (end == text.size()) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  const size_t limit = std::max<size_t>(1, name.size() / 3);
  size_t best_distance = limit + 1;
  std::string_view best;
  for (const std::string& candidate : candidates) {
    const size_t longer = std::max(name.size(), candidate.size());
    const size_t shorter = std::min(name.size(), candidate.size());
    if (longer - shorter >= best_distance) continue;
    const size_t distance = edit_distance(name, candidate);
    // A distance as long as the candidate shares no letter with it.
    if (distance >= best_distance || distance >= longer) continue;
    best_distance = distance;
    best = candidate;
  }
  return std::string(best);
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string nearest = nearest_name(name, candidates);
  return nearest.empty() ? "" : fmt::format("{} \"{}\"?", kHint, nearest);
}

std::string quoted_excerpt(std::string_view text, size_t position) {
  constexpr size_t kLongest = 160, kBefore = 60, kShown = 120;
  const bool is_long = text.size() > kLongest;
  size_t begin = is_long && position > kBefore ? std::min(position, text.size()) - kBefore : 0;
  size_t end = is_long ? std::min(begin + kShown, text.size()) : text.size();
  while (begin > 0 && begin < end && is_utf8_tail(text[begin])) ++begin;
  while (end < text.size() && end > begin && is_utf8_tail(text[end])) --end;
  std::string excerpt(text.substr(begin, end - begin));
  for (char& c : excerpt) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return fmt::format("\"{}{}{}\"", begin > 0 ? "..." : "", excerpt, end < text.size() ? "..." : "");
}

// A hint of did_you_mean stays the end of the message.
Status text_error(std::string_view text, size_t position, std::string_view what) {
  const size_t hint = std::min(what.rfind(kHint), what.size());
  return invalid_argument("{} at column {} of {}{}", what.substr(0, hint), position + 1,
                          quoted_excerpt(text, position), what.substr(hint));
}

}  // namespace onedim
