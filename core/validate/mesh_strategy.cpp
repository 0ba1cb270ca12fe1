#include "core/validate/mesh_strategy.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/shell_text.hpp"
#include "core/base/text.hpp"
#include "core/select/given_rules.hpp"

namespace onedim {
namespace {

Dims left_to_right(int mesh_ndim) {
  Dims order(mesh_ndim);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Any kind of shard is judged as a plain one; strided ones are typed.
Rule with_plain_shards(Rule rule) {
  for (std::vector<Placement>* side : {&rule.outputs, &rule.inputs}) {
    for (Placement& placement : *side) {
      if (placement.kind == Placement::Kind::kAnyShard) placement.kind = Placement::Kind::kShard;
    }
  }
  return rule;
}

// Ranks of a mesh that is judged: each of them runs in turn.
constexpr int64_t kMostRanks = 64;

Result<Dims> parse_order(const Mesh& mesh, std::string_view text) {
  if (text.empty()) return left_to_right(mesh.ndim());
  Dims order;
  for (const std::string_view name : split_top_level(text, ',')) {
    const std::optional<int> mesh_dim = mesh.find(name);
    if (!mesh_dim) {
      return invalid_argument("the order \"{}\" names \"{}\", but the mesh is {}", text, name,
                              mesh.format());
    }
    order.push_back(*mesh_dim);
  }
  Dims sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted == left_to_right(mesh.ndim())) return order;
  return invalid_argument("the order \"{}\" must name every mesh dim of {} once", text,
                          mesh.format());
}

}  // namespace

Result<RuleChoices> make_choices(const Subject& subject, const Registry& registry,
                                 std::span<const int64_t> split_factors) {
  Layout strided;
  for (const int64_t factor : split_factors)
    strided.placements.push_back(Placement::strided_shard(0, factor));
  const Layout* const present[] = {&strided};
  return RuleChoices::create(*subject.op, subject.call, subject.outputs, registry, present, false);
}

Result<MeshStrategy> make_strategy(const Subject& subject, const RuleChoices& choices,
                                   const Mesh& mesh, const Strategy& strategy, Policy policy) {
  // Nothing stands as given, so the policy binds every cut.
  const std::vector<Layout> current(subject.call.inputs.size(), Layout::replicated(mesh.ndim()));
  const SelectSubject select{*subject.op, subject.call, subject.outputs, current, mesh, policy};
  if (Status status = check_strategy(select, choices, strategy); !status.ok()) return status;
  MeshStrategy made;
  made.order = strategy.order;
  for (const int rule : strategy.rules) {
    made.rules.push_back(choices.rules()[rule].rule);
    made.tags.push_back(made.rules.back().tag);
  }
  for (size_t slot = 0; slot < subject.call.inputs.size(); ++slot) {
    made.inputs.push_back(subject.call.inputs[slot] ? input_layout(choices, strategy, slot, mesh)
                                                    : Layout());
  }
  for (size_t slot = 0; slot < subject.outputs.size(); ++slot) {
    made.outputs.push_back(subject.outputs[slot] ? output_layout(choices, strategy, slot, mesh)
                                                 : Layout());
  }
  Status status = check_local_calls(select, made.inputs, made.outputs, made.tags);
  if (!status.ok()) return status;
  return made;
}

Result<MeshStrategy> make_strategy(const Subject& subject, const Registry& registry,
                                   const Mesh& mesh, std::span<const Rule> rules,
                                   const Dims& order) {
  const Result<RuleChoices> choices =
      choices_for(*subject.op, subject.call, subject.outputs, registry, rules);
  if (!choices.ok()) return choices.status();
  const Result<Strategy> strategy = find_strategy(*subject.op, *choices, rules, order);
  if (!strategy.ok()) return strategy.status();
  return make_strategy(subject, *choices, mesh, *strategy);
}

std::vector<Mesh> default_meshes() {
  std::vector<Mesh> meshes;
  for (const char* text : {"a=2,b=2", "a=2,b=3", "a=2,b=2,c=2"})
    meshes.push_back(*Mesh::parse(text));
  return meshes;
}

Result<Mesh> parse_judged_mesh(std::string_view text) {
  Result<Mesh> mesh = Mesh::parse(text);
  if (!mesh.ok() || mesh->rank_count() <= kMostRanks) return mesh;
  return invalid_argument("the mesh {} has {} ranks, but at most {} are simulated", mesh->format(),
                          mesh->rank_count(), kMostRanks);
}

Result<ParsedStrategy> parse_strategy(const StrategyText& text) {
  const Result<Mesh> mesh = parse_judged_mesh(text.mesh);
  if (!mesh.ok()) return mesh.status();
  if (text.rules.size() != static_cast<size_t>(mesh->ndim())) {
    return invalid_argument("{} rule{} for the {} mesh dim{} of {}: a strategy has one each",
                            text.rules.size(), text.rules.size() == 1 ? "" : "s", mesh->ndim(),
                            mesh->ndim() == 1 ? "" : "s", mesh->format());
  }
  ParsedStrategy parsed{*mesh, {}, {}};
  for (const std::string& rule_text : text.rules) {
    Result<Rule> rule = parse_conditional_rule(rule_text);
    if (!rule.ok()) return rule.status();
    parsed.rules.push_back(with_plain_shards(*std::move(rule)));
  }
  Result<Dims> order = parse_order(*mesh, text.order);
  if (!order.ok()) return order.status();
  parsed.order = *std::move(order);
  return parsed;
}

StrategyText format_strategy(const Mesh& mesh, std::span<const Rule> rules, const Dims& order) {
  StrategyText text{mesh.format(), {}, {}};
  for (const Rule& rule : rules) text.rules.push_back(format_conditional_rule(rule));
  if (order == left_to_right(mesh.ndim())) return text;
  for (const int64_t mesh_dim : order)
    text.order += (text.order.empty() ? "" : ",") + mesh.name(static_cast<int>(mesh_dim));
  return text;
}

std::string one_line_of(const StrategyText& text) {
  std::string line;
  size_t at = 0;
  for (const std::string_view dim : split_top_level(text.mesh, ',')) {
    line +=
        fmt::format("{}{}: {}", at == 0 ? "" : "; ", dim.substr(0, dim.find('=')), text.rules[at]);
    ++at;
  }
  return line + (text.order.empty() ? "" : "; order " + text.order);
}

std::string strategy_command(const Op& op, const Call& call, std::span<const Domain> domains,
                             const StrategyText& text, uint64_t seed) {
  std::string command = fmt::format("onedim validate {} --inputs {} --mesh {}", op.name(),
                                    shell_word(format_call(call, domains)), shell_word(text.mesh));
  for (const std::string& rule : text.rules) command += " --strategy " + shell_word(rule);
  if (!text.order.empty()) command += " --order " + shell_word(text.order);
  return command + fmt::format(" --seed {}", seed);
}

}  // namespace onedim
