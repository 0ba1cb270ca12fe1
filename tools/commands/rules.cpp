#include <nlohmann/json.hpp>

#include "core/graph/value_json.hpp"
#include "core/pack/closed_rules.hpp"
#include "core/pack/foreign_call.hpp"
#include "tools/commands/commands.hpp"
#include "tools/local_refusals.hpp"
#include "tools/op_names.hpp"

namespace onedim {
namespace {

const std::vector<int64_t> kWorlds = {2, 3, 4};  // on which local refusals are looked for

struct RulesOptions {
  std::string op;
  std::string inputs;
  std::vector<std::string> attributes;
  bool has_case = false;  // --inputs or --attr was given
  bool no_implied = false;
};

struct ShownRule {
  ClosedRule closed;
  std::vector<LocalRefusal> refusals;
};

struct RuleCase {
  Subject subject;
  std::vector<ShownRule> rules;
};

Result<std::vector<ClosedRule>> close_call(const Op& op, CallText text, const Registry& registry,
                                           Subject& subject) {
  const ForeignCall running(op, "infer or the rules");
  Result<Subject> made = make_subject(op, std::move(text));
  if (!made.ok()) return made.status();
  subject = *std::move(made);
  return closed_rules(op, subject.call, subject.outputs, registry);
}

Result<RuleCase> close_case(const Op& op, CallText text, const Registry& registry,
                            bool no_implied) {
  RuleCase rule_case;
  Result<std::vector<ClosedRule>> rules =
      close_call(op, std::move(text), registry, rule_case.subject);
  if (!rules.ok()) return rules.status();
  const ForeignCall running(op, "infer or accept_local");
  for (ClosedRule& closed : *rules) {
    if (no_implied && closed.rule.implied) continue;
    std::vector<LocalRefusal> refusals = local_refusals(rule_case.subject, closed.rule, kWorlds);
    rule_case.rules.push_back({std::move(closed), std::move(refusals)});
  }
  return rule_case;
}

Status append_samples(const Op& op, const Registry& registry, bool no_implied,
                      std::vector<RuleCase>& cases) {
  const ForeignCall running(op, "the samples");
  const Result<std::vector<std::string>> samples = op.samples();
  if (!samples.ok()) return samples.status();
  if (samples->empty()) {
    return invalid_argument("{} has no samples; give a case with --inputs", op.name());
  }
  for (const std::string& sample : *samples) {
    Result<CallText> text = parse_call(op.schema, sample);
    if (!text.ok()) return annotate(text.status(), fmt::format("sample of {}", op.name()));
    Result<RuleCase> rule_case = close_case(op, *std::move(text), registry, no_implied);
    if (!rule_case.ok())
      return annotate(rule_case.status(), fmt::format("sample of {}", op.name()));
    cases.push_back(*std::move(rule_case));
  }
  return absl::OkStatus();
}

// `NAME.*` asks for all overloads in so many words; a bare ambiguous name is a mistake here.
Result<std::vector<const Op*>> chosen_ops(const Registry& registry, const RulesOptions& options) {
  if (options.op.ends_with(".*") && !options.has_case) return find_ops(registry, options.op);
  const Result<const Op*> op = find_op(registry, options.op);
  if (!op.ok()) return op.status();
  return std::vector<const Op*>{*op};
}

Result<std::vector<RuleCase>> collect_cases(const Registry& registry, const RulesOptions& options) {
  const Result<std::vector<const Op*>> ops = chosen_ops(registry, options);
  if (!ops.ok()) return ops.status();
  std::vector<RuleCase> cases;
  if (options.has_case) {
    const Op& op = *ops->front();
    Result<CallText> text = parse_call(op.schema, options.inputs, options.attributes);
    if (!text.ok()) return text.status();
    Result<RuleCase> rule_case = close_case(op, *std::move(text), registry, options.no_implied);
    if (!rule_case.ok()) return rule_case.status();
    cases.push_back(*std::move(rule_case));
    return cases;
  }
  for (const Op* op : *ops) {
    const Status status = append_samples(*op, registry, options.no_implied, cases);
    if (!status.ok()) return status;
  }
  return cases;
}

Json placements_json(const std::vector<Placement>& placements) {
  Json texts = Json::array();
  for (Placement placement : placements) {
    if (placement.kind == Placement::Kind::kAnyShard) placement.kind = Placement::Kind::kShard;
    texts.push_back(format_placement(placement));
  }
  return texts;
}

Json requirements_json(const std::vector<Requirement>& requirements) {
  Json list = Json::array();
  for (const Requirement& requirement : requirements) {
    list.push_back({{"slot", requirement.slot},
                    {"dim", requirement.dim},
                    {"multiple_of", requirement.multiple},
                    {"output", requirement.is_output}});
  }
  return list;
}

Json refusals_json(const std::vector<LocalRefusal>& refusals) {
  Json list = Json::array();
  for (const LocalRefusal& refusal : refusals)
    list.push_back({{"ranks", refusal.ranks}, {"reason", refusal.reason}});
  return list;
}

Json rule_json(const ShownRule& rule) {
  const ClosedRule& closed = rule.closed;
  return {{"outputs", placements_json(closed.rule.outputs)},
          {"inputs", placements_json(closed.rule.inputs)},
          {"any_shard", closed.any_shard},
          {"implied", closed.rule.implied},
          {"even_only", closed.rule.even_only},
          {"to_rounding", closed.rule.to_rounding},
          {"requires", requirements_json(closed.rule.requirements)},
          {"refused", refusals_json(rule.refusals)}};
}

Json attributes_json(const Call& call) {
  Json attributes = Json::object();
  for (const auto& [name, value] : call.attributes) attributes[name] = value_to_json(value);
  return attributes;
}

Json input_texts(const Call& call) {
  Json texts = Json::array();
  for (const OptionalMeta& input : call.inputs) texts.push_back(input ? format_meta(*input) : "-");
  return texts;
}

Json to_json(const std::vector<RuleCase>& cases) {
  Json list = Json::array();
  for (const RuleCase& rule_case : cases) {
    Json rules = Json::array();
    for (const ShownRule& rule : rule_case.rules) rules.push_back(rule_json(rule));
    list.push_back({{"op", rule_case.subject.op->name()},
                    {"inputs", input_texts(rule_case.subject.call)},
                    {"attributes", attributes_json(rule_case.subject.call)},
                    {"rules", std::move(rules)}});
  }
  return {{"cases", std::move(list)}};
}

std::string requirement_text(const Requirement& requirement) {
  return fmt::format("dim {} of {} {} a multiple of {}", requirement.dim,
                     requirement.is_output ? "output" : "input", requirement.slot,
                     requirement.multiple);
}

std::string refusal_text(const LocalRefusal& refusal) {
  return fmt::format("refused on {} ranks: {}", fmt::join(refusal.ranks, ", "), refusal.reason);
}

std::string rule_text(const ShownRule& rule) {
  const ClosedRule& closed = rule.closed;
  std::string remarks;
  const auto add = [&](std::string_view remark) {
    remarks += remarks.empty() ? "   # " : ", ";
    remarks += remark;
  };
  if (closed.rule.implied) add("implied");
  if (closed.rule.even_only) add("even sizes only");
  if (closed.rule.to_rounding) add("to rounding");
  for (const Requirement& requirement : closed.rule.requirements)
    add(requirement_text(requirement));
  for (const LocalRefusal& refusal : rule.refusals) add(refusal_text(refusal));
  return fmt::format("  {}{}\n", format_rule(closed.rule), remarks);
}

std::string to_text(const std::vector<RuleCase>& cases) {
  std::string text;
  for (const RuleCase& rule_case : cases) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{}: {}\n", rule_case.subject.op->name(),
                        format_call(rule_case.subject.call, {}));
    for (const ShownRule& rule : rule_case.rules) text += rule_text(rule);
  }
  return text;
}

Result<ExitCode> run_rules(Session& session, const RulesOptions& options) {
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<std::vector<RuleCase>> cases = collect_cases(**registry, options);
  if (!cases.ok()) return cases.status();
  if (session.flags.json) {
    session.write_json(to_json(*cases));
  } else {
    session.write(to_text(*cases));
  }
  return ExitCode::kFine;
}

}  // namespace

void add_rules(CLI::App& app, Session& session) {
  auto options = std::make_shared<RulesOptions>();
  CLI::App* command = app.add_subcommand("rules", "Show the closed set of an op's sharding rules");
  command->add_option("op", options->op, "Op, such as mm or add.Tensor; add.* for all overloads")
      ->type_name("OP")
      ->required();
  const CLI::Option* inputs = command
                                  ->add_option("--inputs", options->inputs,
                                               "Tensors of one case, such as 'f32[4,6]; f32[6,8]'")
                                  ->type_name("TENSORS");
  const CLI::Option* attributes =
      command->add_option("--attr", options->attributes, "Attribute of the case (repeatable)")
          ->type_name("NAME=VALUE")
          ->allow_extra_args(false);
  command->add_flag("--no-implied", options->no_implied,
                    "Leave out the rules that hold because another does");
  command->footer(
      "Without --inputs: one case per sample of the op.\n"
      "Example: onedim rules mm --inputs 'f32[4,6]; f32[6,8]'");
  command->callback([options, inputs, attributes, &session] {
    options->has_case = inputs->count() + attributes->count() > 0;
    session.choose([options, &session] { return run_rules(session, *options); });
  });
}

}  // namespace onedim
