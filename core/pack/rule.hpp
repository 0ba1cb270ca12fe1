#pragma once
// Rule: a single-dim strategy, `outputs | inputs`: if the inputs are placed so on one mesh dim of
// any size, the op run on each rank's local inputs gives outputs placed so. Slots follow the
// flattened call.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/layout/placement.hpp"

namespace onedim {

// Every rank's length of `dim` of this slot must be a multiple of `multiple`.
struct Requirement {
  bool is_output = false;
  int slot = 0;
  int dim = 0;
  int64_t multiple = 1;
  bool operator==(const Requirement&) const = default;
};

struct Rule {
  std::vector<Placement> outputs;
  std::vector<Placement> inputs;
  std::vector<Requirement> requirements;
  bool even_only = false;
  bool to_rounding = false;
  bool implied = false;  // added by the closure, not declared
  uint64_t tag = 0;

  bool has_same_placements(const Rule& other) const {
    return outputs == other.outputs && inputs == other.inputs;
  }
  bool operator==(const Rule&) const = default;
};

// `P(sum) | S(1), S(0)`; an op without outputs or inputs has nothing on that side.
std::string format_rule(const Rule& rule);
Result<Rule> parse_rule(std::string_view text);
// Of placements alone: equal for rules with the same ones.
size_t placements_hash(const Rule& rule);

// A rule's text with all that it is bound to behind it, in this order and only where it is so:
// `P(sum) | S(1), S(0) even_only to_rounding multiple_of(input 0, 1, 4) tag(7)`; multiple_of names
// the slot, its dim and the number. Parsing takes them in any order.
std::string format_conditional_rule(const Rule& rule);
Result<Rule> parse_conditional_rule(std::string_view text);

}  // namespace onedim
