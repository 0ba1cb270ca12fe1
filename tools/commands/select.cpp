#include <nlohmann/json.hpp>

#include "core/layout/placed_layout.hpp"
#include "core/pack/foreign_call.hpp"
#include "core/select/selector.hpp"
#include "tools/commands/commands.hpp"
#include "tools/input_states.hpp"
#include "tools/op_names.hpp"
#include "tools/placed_call.hpp"
#include "tools/planning_flags.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

struct SelectFlags {
  std::string op, inputs;
  std::vector<std::string> attributes, states;
  PlanningFlags planning;
  bool exact_rules = false;
  bool forbid_moves = false;
  bool compute = false;
  bool explain = false;
};

struct Choice {
  std::shared_ptr<const Decision> best;
  std::shared_ptr<const Decision> runner_up;  // null if there is no other, or it is not shown
};

Result<SelectOptions> parse_options(const SelectFlags& flags) {
  Result<SelectOptions> options = flags.planning.select_options();
  if (!options.ok()) return options.status();
  options->exact_rules = flags.exact_rules;
  options->forbid_moves = flags.forbid_moves;
  options->with_compute = flags.compute;
  return options;
}

std::vector<std::string> layout_texts(const std::vector<Layout>& layouts, const Mesh& mesh) {
  std::vector<std::string> texts;
  for (const Layout& layout : layouts)
    texts.push_back(layout.placements.empty() ? "-" : format_layout(layout, mesh));
  return texts;
}

std::vector<std::string> rule_texts(const Decision& decision) {
  std::vector<std::string> texts;
  for (const Rule& rule : decision.rules) texts.push_back(format_rule(rule));
  return texts;
}

std::string count_text(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// What decides among strategies of one cost, after collectives and bytes.
struct MovedAndSteps {
  int64_t moved = 0;  // inputs
  int64_t steps = 0;  // of their plans
};

MovedAndSteps moved_and_steps(const Decision& decision) {
  MovedAndSteps count;
  for (const std::shared_ptr<const Plan>& plan : decision.plans) {
    if (plan == nullptr) continue;
    ++count.moved;
    count.steps += static_cast<int64_t>(plan->steps.size());
  }
  return count;
}

// What the comparison turned on, in the order of selection's ties.
std::string why_it_lost(const Decision& best, const Decision& other) {
  const double more_us = other.cost_us - best.cost_us;
  if (more_us > 5e-7) return fmt::format("costs {:.3f} us more", more_us);
  if (other.collectives != best.collectives)
    return fmt::format("costs the same in {} collectives instead of {}", other.collectives,
                       best.collectives);
  if (other.bytes != best.bytes)
    return fmt::format("costs the same, a rank receives {} bytes more", other.bytes - best.bytes);
  const MovedAndSteps one = moved_and_steps(best), two = moved_and_steps(other);
  if (one.moved != two.moved)
    return fmt::format("costs the same, moves {} instead of {}", count_text(two.moved, "input"),
                       one.moved);
  if (one.steps != two.steps)
    return fmt::format("costs the same, takes {} instead of {}", count_text(two.steps, "step"),
                       one.steps);
  if (best.order != other.order) return "costs the same, its cutting order comes later";
  return "costs the same, its rules stand later in the op's order";
}

Json plans_json(const Decision& decision, const Mesh& mesh) {
  Json plans = Json::array();
  for (const std::shared_ptr<const Plan>& plan : decision.plans)
    plans.push_back(plan == nullptr ? Json{{"steps", Json::array()}} : plan_to_json(*plan, mesh));
  return plans;
}

Json decision_json(const Decision& decision, const Mesh& mesh) {
  return {{"cost_us", decision.cost_us},
          {"redistribution_us", decision.redistribution_us()},
          {"compute_us", decision.compute_us},
          {"collectives", decision.collectives},
          {"bytes", decision.bytes},
          {"rules", rule_texts(decision)},
          {"inputs", layout_texts(decision.inputs, mesh)},
          {"outputs", layout_texts(decision.outputs, mesh)},
          {"plans", plans_json(decision, mesh)}};
}

Json choice_json(const Op& op, const Choice& choice, const Mesh& mesh) {
  Json json{{"op", op.name()}};
  json.update(decision_json(*choice.best, mesh));
  json["runner_up"] = nullptr;
  if (choice.runner_up != nullptr) {
    json["runner_up"] = decision_json(*choice.runner_up, mesh);
    json["runner_up"]["why"] = why_it_lost(*choice.best, *choice.runner_up);
  }
  json["searched"] = choice.best->searched;
  json["rule_count"] = choice.best->rule_count;
  return json;
}

std::string decision_text(const Decision& decision, const PlacedCall& placed, const Mesh& mesh) {
  std::vector<TextRow> rows{{"mesh dim", "rule"}};
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim)
    rows.push_back({mesh.name(mesh_dim), format_rule(decision.rules[mesh_dim])});
  std::string text = format_table(rows);
  if (decision.compute_us > 0)
    text += fmt::format("moves {:.3f} us, computing {:.3f} us\n", decision.redistribution_us(),
                        decision.compute_us);
  for (size_t slot = 0; slot < decision.inputs.size(); ++slot) {
    if (!placed.call.inputs[slot]) continue;
    const Plan* plan = decision.plans[slot].get();
    text += fmt::format("input {}  {}@{}", slot, format_meta(*placed.call.inputs[slot]),
                        format_placed_layout(placed.layouts[slot], placed.outermosts[slot], mesh));
    if (plan == nullptr) {
      text += "  stays\n";
      continue;
    }
    text += fmt::format(" -> {}\n", format_layout(decision.inputs[slot], mesh));
    const std::string steps = format_plan(*plan, mesh);
    for (size_t at = 0; at < steps.size();) {
      const size_t end = steps.find('\n', at);
      text += "  " + steps.substr(at, end - at + 1);
      at = end + 1;
    }
  }
  const std::vector<std::string> outputs = layout_texts(decision.outputs, mesh);
  for (size_t slot = 0; slot < outputs.size(); ++slot)
    text += fmt::format("output {}  {}\n", slot, outputs[slot]);
  return text;
}

std::string choice_text(const Op& op, const Choice& choice, const PlacedCall& placed,
                        const Mesh& mesh, bool explain) {
  const Decision& best = *choice.best;
  std::string text = fmt::format("{} on {}: {:.3f} us, {}, a rank receives {} bytes at most\n",
                                 op.name(), mesh.format(), best.cost_us,
                                 count_text(best.collectives, "collective"), best.bytes);
  text += decision_text(best, placed, mesh);
  if (!explain) return text;
  text += fmt::format("\n{} a mesh dim, {} opened of branch and bound\n",
                      count_text(best.rule_count, "rule"), count_text(best.searched, "node"));
  if (choice.runner_up == nullptr) return text + "no other strategy is valid\n";
  text += fmt::format("runner-up: {}\n", why_it_lost(best, *choice.runner_up));
  return text + decision_text(*choice.runner_up, placed, mesh);
}

Result<ExitCode> run_select(Session& session, const SelectFlags& flags) {
  Result<std::shared_ptr<const CostModel>> model = flags.planning.make_model();
  if (!model.ok()) return model.status();
  const Mesh mesh = (*model)->mesh();
  const Result<SelectOptions> options = parse_options(flags);
  if (!options.ok()) return options.status();
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<const Op*> op = find_op(**registry, flags.op);
  if (!op.ok()) return op.status();
  const Result<PlacedCall> placed =
      parse_placed_call((*op)->schema, flags.inputs, flags.attributes, mesh);
  if (!placed.ok()) return placed.status();
  std::optional<Roofline> roofline;
  if (flags.compute) {
    const Result<Roofline> made = flags.planning.make_roofline();
    if (!made.ok()) return made.status();
    roofline = *made;
  }
  Planner planner(*std::move(model));
  Selector selector(**registry, planner, Selector::kCapacity, roofline);
  const ForeignCall running(**op, "selection's questions");
  const Result<InputStates> states = parse_states(flags.states, *placed, **registry);
  if (!states.ok()) return states.status();
  const SelectRequest request{*op,      &placed->call,      placed->layouts, {},
                              *options, placed->outermosts, *states};
  Result<std::shared_ptr<const Decision>> best = selector.select(request);
  if (absl::IsFailedPrecondition(best.status())) {
    session.refuse(std::string(message_of(best.status())) +
                   missing_states(*states, *placed, **registry));
    return ExitCode::kFindings;
  }
  if (!best.ok()) return best.status();
  Choice choice{*std::move(best), nullptr};
  if (session.flags.json || flags.explain) {
    if (const auto other = selector.runner_up(request, *choice.best); other.ok())
      choice.runner_up = *other;
  }
  if (session.flags.json) {
    session.write_json(choice_json(**op, choice, mesh));
  } else {
    session.write(choice_text(**op, choice, *placed, mesh, flags.explain));
  }
  return ExitCode::kFine;
}

void add_flags(CLI::App& command, SelectFlags& flags) {
  command.add_option("op", flags.op, "Op, such as mm or add.Tensor")->type_name("OP")->required();
  command
      .add_option("--inputs", flags.inputs,
                  "Tensors with their layouts, such as 'f32[64,32]@S(0),R; f32[32,16]@R,R'; "
                  "` outermost(1)` behind a layout where dim 1 is outermost in memory")
      ->type_name("TENSORS")
      ->required();
  command
      .add_option("--state", flags.states,
                  "State tensors of an input that is a partial of a pack, such as "
                  "'0=f64[8]; f64[8]': they are what moves (repeatable)")
      ->type_name("SLOT=TENSORS")
      ->allow_extra_args(false);
  command.add_option("--attr", flags.attributes, "Attribute of the call (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  flags.planning.add_to(command);
  command.add_flag("--exact-rules", flags.exact_rules, "No rules that hold only to rounding");
  command.add_flag("--forbid-moves", flags.forbid_moves, "Every input stays as it is");
  command.add_flag("--compute", flags.compute,
                   "Count the time of the local call too, as the cluster's roofline has it");
  command.add_flag("--explain", flags.explain, "Say what else there was, and why it lost");
}

}  // namespace

void add_select(CLI::App& app, Session& session) {
  auto flags = std::make_shared<SelectFlags>();
  CLI::App* command = app.add_subcommand("select", "Choose the cheapest layouts for one op");
  add_flags(*command, *flags);
  command->footer(
      "Example: onedim select mm --mesh dp=2,tp=4 --inputs 'f32[64,32]@S(0),R; f32[32,16]'");
  command->callback([flags, &session] {
    session.choose([flags, &session] { return run_select(session, *flags); });
  });
}

}  // namespace onedim
