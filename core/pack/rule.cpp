#include "core/pack/rule.hpp"

#include "core/base/text.hpp"

namespace onedim {
namespace {

std::string format_side(const std::vector<Placement>& placements) {
  std::string text;
  for (const Placement& placement : placements) {
    if (!text.empty()) text += ", ";
    text += format_placement(placement);
  }
  return text;
}

Status parse_side(std::string_view text, std::string_view side,
                  std::vector<Placement>& placements) {
  for (const std::string_view piece : split_top_level(side, ',')) {
    Result<Placement> placement = parse_placement(piece);
    if (!placement.ok()) return annotate(placement.status(), fmt::format("rule \"{}\"", text));
    placements.push_back(*std::move(placement));
  }
  return absl::OkStatus();
}

}  // namespace

std::string format_rule(const Rule& rule) {
  const std::string outputs = format_side(rule.outputs);
  const std::string inputs = format_side(rule.inputs);
  return fmt::format("{}{}|{}{}", outputs, outputs.empty() ? "" : " ", inputs.empty() ? "" : " ",
                     inputs);
}

Result<Rule> parse_rule(std::string_view text) {
  const size_t bar = text.find('|');
  if (bar == std::string_view::npos) {
    return text_error(text, text.size(), "expected `outputs | inputs`, but there is no `|`");
  }
  if (const size_t second = text.find('|', bar + 1); second != std::string_view::npos) {
    return text_error(text, second, "a second `|`");
  }
  Rule rule;
  if (Status status = parse_side(text, text.substr(0, bar), rule.outputs); !status.ok())
    return status;
  if (Status status = parse_side(text, text.substr(bar + 1), rule.inputs); !status.ok())
    return status;
  return rule;
}

}  // namespace onedim
