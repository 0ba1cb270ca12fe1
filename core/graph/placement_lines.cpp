#include "core/graph/placement_lines.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace onedim {
namespace {

bool matches(const std::string& glob, const std::string& name) {
  return !name.empty() && fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

class LineReader {
 public:
  LineReader(const Graph& graph, const Mesh& mesh)
      : graph_(graph), mesh_(mesh), makers_(makers_of(graph)) {
    found_.values.resize(graph.values.size());
  }

  Result<NamedPlacements> read(std::span<const PlacementLine> lines) {
    for (const PlacementLine& line : lines) {
      Status status = line.is_rules ? read_rules(line) : read_layout(line);
      if (!status.ok()) return annotate(status, fmt::format("line {}", line.line));
    }
    return std::move(found_);
  }

 private:
  Status read_layout(const PlacementLine& line) {
    bool is_used = false;
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      const GraphValue& value = graph_.values[id];
      const bool is_named = matches(line.glob, value.name) || matches(line.glob, value.path) ||
                            (makers_[id] >= 0 && matches(line.glob, place_text(makers_[id])));
      if (!is_named) continue;
      Result<Layout> layout =
          parse_layout(line.text, mesh_, static_cast<int>(value.meta.shape.size()));
      if (!layout.ok()) return annotate(layout.status(), quoted_excerpt(value.name));
      found_.values[id] = *std::move(layout);
      is_used = true;
    }
    if (is_used) return absl::OkStatus();
    std::vector<std::string> names;
    for (const GraphValue& value : graph_.values) names.push_back(value.name);
    return invalid_argument("no value has the name or path {}{}", quoted_excerpt(line.glob),
                            did_you_mean(line.glob, names));
  }

  Status read_rules(const PlacementLine& line) {
    std::vector<Rule> rules;
    for (const std::string_view part : split_top_level(line.text, ';')) {
      Result<Rule> rule = parse_conditional_rule(part);
      if (!rule.ok()) return rule.status();
      rules.push_back(*std::move(rule));
    }
    bool is_used = false;
    for (int node = 0; node < graph_.node_count(); ++node) {
      if (!matches(line.glob, graph_.nodes[node].name) && !matches(line.glob, place_text(node)))
        continue;
      found_.rules[node] = rules;
      is_used = true;
    }
    if (is_used) return absl::OkStatus();
    std::vector<std::string> names;
    for (const GraphNode& node : graph_.nodes) names.push_back(node.name);
    return invalid_argument("no node has the name {}{}", quoted_excerpt(line.glob),
                            did_you_mean(line.glob, names));
  }

  // Where a node stands in the model and what it does: `layers.0.attention.wq/einsum`.
  std::string place_text(int node) const {
    return graph_.nodes[node].module.value_or("") + "/" + graph_.nodes[node].op;
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const std::vector<int> makers_;
  NamedPlacements found_;
};

}  // namespace

Result<std::vector<PlacementLine>> parse_placement_lines(std::string_view text) {
  constexpr std::string_view kRules = "rules ";
  std::vector<PlacementLine> lines;
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line[0] == '#') continue;
    PlacementLine parsed;
    parsed.line = number;
    parsed.is_rules = line.starts_with(kRules);
    if (parsed.is_rules) line.remove_prefix(kRules.size());
    const size_t colon = line.find(':');
    if (colon == line.npos) {
      return invalid_argument(
          "line {}: {} has no `:`; expected `GLOB: LAYOUT` or `rules GLOB: RULE; RULE`", number,
          quoted_excerpt(line));
    }
    parsed.glob = trim(line.substr(0, colon));
    parsed.text = trim(line.substr(colon + 1));
    lines.push_back(std::move(parsed));
  }
  return lines;
}

Result<NamedPlacements> find_placements(const Graph& graph, const Mesh& mesh,
                                        std::span<const PlacementLine> lines) {
  return LineReader(graph, mesh).read(lines);
}

}  // namespace onedim
