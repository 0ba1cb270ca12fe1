#include "core/exec/run_description.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/one_line.hpp"

namespace onedim {

void RunDescription::add(std::string_view name, std::string_view value) {
  lines_.push_back({one_line(name), one_line(value)});
}

std::string RunDescription::format() const {
  std::string text;
  for (const Line& line : lines_) text += line.name + "\t" + line.value + "\n";
  return text;
}

RunDescription RunDescription::parse(std::string_view text) {
  RunDescription description;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const size_t tab = std::min(line.find('\t'), line.size());
    description.add(line.substr(0, tab), line.substr(std::min(tab + 1, line.size())));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return description;
}

uint64_t RunDescription::fingerprint() const {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : format()) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

namespace {

struct Side {
  std::string value;
  std::vector<size_t> ranks;
};

std::string words(const std::vector<Side>& sides) {
  std::string text;
  for (const Side& side : sides) {
    text += fmt::format("{}{} {} {} {}", text.empty() ? "" : "; ",
                        side.ranks.size() == 1 ? "rank" : "ranks", fmt::join(side.ranks, ", "),
                        side.ranks.size() == 1 ? "has" : "have",
                        side.value.empty() ? "nothing" : side.value);
  }
  return text;
}

}  // namespace

Status check_same_run(const Mesh& mesh, std::span<const RunDescription> ranks) {
  size_t most = 0;
  for (const RunDescription& rank : ranks) most = std::max(most, rank.lines_.size());
  for (size_t at = 0; at < most; ++at) {
    std::string name;
    std::vector<Side> sides;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      const auto& lines = ranks[rank].lines_;
      RunDescription::Line line = at < lines.size() ? lines[at] : RunDescription::Line();
      if (name.empty()) name = line.name;
      if (line.name != name) line.value = line.name + " " + line.value;
      const auto same = std::find_if(sides.begin(), sides.end(),
                                     [&](const Side& side) { return side.value == line.value; });
      if (same == sides.end())
        sides.push_back({std::move(line.value), {rank}});
      else
        same->ranks.push_back(rank);
    }
    if (sides.size() == 1) continue;
    return absl::AbortedError(fmt::format("the ranks of {} do not run the same: {}: {}",
                                          mesh.format(), name, words(sides)));
  }
  return {};
}

}  // namespace onedim
