#include "core/graph/graph.hpp"

#include <array>

#include "core/base/text.hpp"

namespace onedim {
namespace {

constexpr std::array<std::string_view, 5> kValueKinds = {"param", "buffer", "input", "tangent",
                                                         "intermediate"};
constexpr std::array<std::string_view, 2> kPhases = {"forward", "backward"};
constexpr std::array<std::string_view, 5> kRecomputes = {"", "MUST_SAVE", "PREFER_SAVE",
                                                         "MUST_RECOMPUTE", "PREFER_RECOMPUTE"};

template <typename Enum, size_t kCount>
Result<Enum> parse_word(std::string_view what, std::string_view text,
                        const std::array<std::string_view, kCount>& words) {
  std::vector<std::string> known;
  for (size_t i = 0; i < kCount; ++i) {
    if (words[i].empty()) continue;
    if (words[i] == text) return static_cast<Enum>(i);
    known.emplace_back(words[i]);
  }
  return invalid_argument("unknown {} {}, expected one of {}{}", what, quoted_excerpt(text),
                          fmt::join(known, " "), did_you_mean(text, known));
}

}  // namespace

std::string_view name_of(ValueKind kind) { return kValueKinds[static_cast<size_t>(kind)]; }
std::string_view name_of(Phase phase) { return kPhases[static_cast<size_t>(phase)]; }
std::string_view name_of(Recompute recompute) {
  return kRecomputes[static_cast<size_t>(recompute)];
}

Result<ValueKind> parse_value_kind(std::string_view text) {
  return parse_word<ValueKind>("kind", text, kValueKinds);
}
Result<Phase> parse_phase(std::string_view text) {
  return parse_word<Phase>("phase", text, kPhases);
}
Result<Recompute> parse_recompute(std::string_view text) {
  return parse_word<Recompute>("recompute tag", text, kRecomputes);
}

std::vector<int> makers_of(const Graph& graph) {
  std::vector<int> makers(graph.values.size(), -1);
  for (int node = 0; node < graph.node_count(); ++node) {
    for (const ValueId output : graph.nodes[node].outputs) {
      if (output != kNoValue) makers[output] = node;
    }
  }
  return makers;
}

std::string node_text(const GraphNode& node) {
  return fmt::format("node {} ({})", quoted_excerpt(node.name), node.op);
}

}  // namespace onedim
