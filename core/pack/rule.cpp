#include "core/pack/rule.hpp"

#include <algorithm>
#include <array>

#include <absl/hash/hash.h>
#include <fmt/ranges.h>

#include "core/base/scanner.hpp"

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

constexpr int64_t kMostDims = 1 << 16;
constexpr std::array<std::string_view, 4> kConditions = {"even_only", "to_rounding", "multiple_of",
                                                         "tag"};

// Where the conditions begin: the first word outside parentheses that is one; else the end.
size_t find_conditions(std::string_view text) {
  for (size_t at = find_top_level(text, " "); at < text.size();) {
    const size_t begin = std::min(text.find_first_not_of(' ', at), text.size());
    Scanner scanner(text.substr(begin));
    const std::string_view word = scanner.word();
    if (std::find(kConditions.begin(), kConditions.end(), word) != kConditions.end()) return begin;
    at = begin + find_top_level(text.substr(begin), " ");
  }
  return text.size();
}

// `(input 0, 1, 4)`.
Status parse_requirement(Scanner& scanner, Rule& rule) {
  if (Status status = scanner.expect("("); !status.ok()) return status;
  scanner.peek();
  const size_t begin = scanner.position();
  const std::string_view side = scanner.word();
  if (side != "input" && side != "output")
    return scanner.error_at(begin, "expected \"input\" or \"output\"");
  Requirement requirement;
  requirement.is_output = side == "output";
  int64_t numbers[3];
  for (int64_t& number : numbers) {
    if (&number != numbers) {
      if (Status status = scanner.expect(","); !status.ok()) return status;
    }
    const Result<int64_t> value = scanner.integer();
    if (!value.ok()) return value.status();
    number = *value;
  }
  const size_t slots = (requirement.is_output ? rule.outputs : rule.inputs).size();
  const bool is_legal = numbers[0] >= 0 && numbers[0] < static_cast<int64_t>(slots) &&
                        numbers[1] >= 0 && numbers[1] < kMostDims && numbers[2] >= 1;
  if (!is_legal) {
    return scanner.error_at(
        begin, fmt::format("expected a slot below {}, a dim of it and a number from 1", slots));
  }
  requirement.slot = static_cast<int>(numbers[0]);
  requirement.dim = static_cast<int>(numbers[1]);
  requirement.multiple = numbers[2];
  rule.requirements.push_back(requirement);
  return scanner.expect(")");
}

Status parse_tag(Scanner& scanner, Rule& rule) {
  if (Status status = scanner.expect("("); !status.ok()) return status;
  const Result<int64_t> tag = scanner.integer();
  if (!tag.ok()) return tag.status();
  rule.tag = static_cast<uint64_t>(*tag);
  return scanner.expect(")");
}

Status parse_condition(Scanner& scanner, Rule& rule) {
  scanner.peek();
  const size_t begin = scanner.position();
  const std::string_view word = scanner.word();
  if (word == "even_only") {
    rule.even_only = true;
  } else if (word == "to_rounding") {
    rule.to_rounding = true;
  } else if (word == "multiple_of") {
    return parse_requirement(scanner, rule);
  } else if (word == "tag") {
    return parse_tag(scanner, rule);
  } else {
    return scanner.error_at(begin, fmt::format("expected one of {}", fmt::join(kConditions, " ")));
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

size_t placements_hash(const Rule& rule) {
  size_t hash = 0;
  for (const std::vector<Placement>* side : {&rule.outputs, &rule.inputs}) {
    for (const Placement& placement : *side) {
      hash = absl::HashOf(hash, static_cast<int>(placement.kind), placement.dim,
                          placement.split_factor, placement.partial, placement.component);
    }
  }
  return hash;
}

std::string format_conditional_rule(const Rule& rule) {
  std::string text = format_rule(rule);
  if (rule.even_only) text += " even_only";
  if (rule.to_rounding) text += " to_rounding";
  for (const Requirement& requirement : rule.requirements) {
    text += fmt::format(" multiple_of({} {}, {}, {})", requirement.is_output ? "output" : "input",
                        requirement.slot, requirement.dim, requirement.multiple);
  }
  if (rule.tag != 0) text += fmt::format(" tag({})", static_cast<int64_t>(rule.tag));
  return text;
}

Result<Rule> parse_conditional_rule(std::string_view text) {
  text = trim(text);
  Scanner scanner(text);
  scanner.move_to(find_conditions(text));
  Result<Rule> rule = parse_rule(text.substr(0, scanner.position()));
  while (rule.ok() && !scanner.at_end()) {
    if (Status status = parse_condition(scanner, *rule); !status.ok()) return status;
  }
  return rule;
}

}  // namespace onedim
