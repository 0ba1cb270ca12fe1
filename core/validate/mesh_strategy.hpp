#pragma once
// Mesh strategy: one rule of an op for every mesh dim, with the layouts that follow from them, as
// it is judged and as it is typed. It is valid where select would offer it under the policy `any`:
// the rules hold on the lengths left, partial kinds mix, and every local call that select asks is
// accepted (core/select/strategy.hpp).

#include <string>
#include <vector>

#include "core/select/strategy.hpp"
#include "core/validate/subject.hpp"

namespace onedim {

struct MeshStrategy {
  std::vector<Rule> rules;  // per mesh dim
  Dims order;               // all mesh dims in cutting order
  std::vector<Layout> inputs;
  std::vector<Layout> outputs;
  std::vector<uint64_t> tags;
};

// The rules that select has for the subject's call, those with any kind of shard also strided by
// each of the factors.
Result<RuleChoices> make_choices(const Subject& subject, const Registry& registry,
                                 std::span<const int64_t> split_factors);

// InvalidArgument says which rule or which local call is at fault.
Result<MeshStrategy> make_strategy(const Subject& subject, const RuleChoices& choices,
                                   const Mesh& mesh, const Strategy& strategy,
                                   Policy policy = Policy::kAny);

// The same from rules of the op, found by their placements and conditions; by placements alone
// where `rules` have no conditions.
Result<MeshStrategy> make_strategy(const Subject& subject, const Registry& registry,
                                   const Mesh& mesh, std::span<const Rule> rules,
                                   const Dims& order);

// Two and three dims, of equal and of different sizes.
std::vector<Mesh> default_meshes();
// Few enough ranks to be simulated one after the other.
Result<Mesh> parse_judged_mesh(std::string_view text);

// As typed: `a=2,b=2`, one rule per mesh dim, and `b,a` or nothing for left to right.
struct StrategyText {
  std::string mesh;
  std::vector<std::string> rules;
  std::string order;
  bool operator==(const StrategyText&) const = default;
};
struct ParsedStrategy {
  Mesh mesh;
  std::vector<Rule> rules;
  Dims order;
};
// Checks all that can be said without the op.
Result<ParsedStrategy> parse_strategy(const StrategyText& text);
StrategyText format_strategy(const Mesh& mesh, std::span<const Rule> rules, const Dims& order);
// `a: S(0) | S(0), R; b: P(sum) | S(1), S(0); order b,a`.
std::string one_line_of(const StrategyText& text);

// The command line that judges the strategy again.
std::string strategy_command(const Op& op, const Call& call, std::span<const Domain> domains,
                             const StrategyText& text, uint64_t seed);

}  // namespace onedim
