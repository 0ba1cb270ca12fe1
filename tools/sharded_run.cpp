#include "tools/sharded_run.hpp"

#include "core/base/text.hpp"
#include "core/layout/memory_order.hpp"
#include "core/validate/mesh_split.hpp"
#include "core/validate/mesh_strategy.hpp"
#include "core/validate/value_draw.hpp"

namespace onedim {
namespace {

constexpr uint64_t kCallId = 1;

Result<ShardedOp> start_op(const Op& op, const Registry& registry, const PlacedCall& placed,
                           const Mesh& mesh) {
  Call call = placed.call;
  call.call_id = kCallId;
  return make_sharded_op(op, registry, std::move(call), mesh);
}

std::vector<uint64_t> tags_of(std::span<const Rule> rules) {
  std::vector<uint64_t> tags;
  for (const Rule& rule : rules) tags.push_back(rule.tag);
  return tags;
}

Result<std::vector<Rule>> parse_rules(std::string_view text, const Mesh& mesh) {
  std::vector<Rule> rules;
  for (const std::string_view part : split_top_level(text, ';')) {
    Result<Rule> rule = parse_conditional_rule(part);
    if (!rule.ok()) return annotate(rule.status(), "--rules");
    rules.push_back(*std::move(rule));
  }
  if (rules.size() == static_cast<size_t>(mesh.ndim())) return rules;
  return invalid_argument("--rules: {} given for the {} mesh dims of {}, expected one each",
                          rules.size(), mesh.ndim(), mesh.format());
}

}  // namespace

Result<ChosenStrategy> select_strategy(const Op& op, const Registry& registry,
                                       const PlacedCall& placed, Planner& planner,
                                       const SelectOptions& options) {
  Result<ShardedOp> made = start_op(op, registry, placed, planner.mesh());
  if (!made.ok()) return made.status();
  Selector selector(registry, planner);
  const SelectRequest request{&op, &placed.call, placed.layouts, {}, options, placed.outermosts};
  const Result<std::shared_ptr<const Decision>> decision = selector.select(request);
  if (!decision.ok()) return decision.status();
  ChosenStrategy chosen{*std::move(made), (*decision)->rules};
  chosen.op.inputs = (*decision)->inputs;
  chosen.op.output_layouts = (*decision)->outputs;
  chosen.op.plans = (*decision)->plans;
  chosen.op.tags = tags_of(chosen.rules);
  return chosen;
}

Result<ChosenStrategy> given_strategy(const Op& op, const Registry& registry,
                                      const PlacedCall& placed, Planner& planner,
                                      std::string_view rules, const PlanOptions& options) {
  const Mesh& mesh = planner.mesh();
  Result<std::vector<Rule>> parsed = parse_rules(rules, mesh);
  if (!parsed.ok()) return parsed.status();
  Result<Subject> subject = make_subject(op, {placed.call, placed.domains});
  if (!subject.ok()) return subject.status();
  const Dims left_to_right = Layout::replicated(mesh.ndim()).cutting_order();
  const Result<MeshStrategy> strategy =
      make_strategy(*subject, registry, mesh, *parsed, left_to_right);
  if (!strategy.ok()) return strategy.status();
  Result<ShardedOp> made = start_op(op, registry, placed, mesh);
  if (!made.ok()) return made.status();
  ChosenStrategy chosen{*std::move(made), strategy->rules};
  chosen.op.inputs = strategy->inputs;
  chosen.op.output_layouts = strategy->outputs;
  chosen.op.tags = strategy->tags;
  chosen.op.plans.resize(placed.layouts.size());
  for (size_t slot = 0; slot < placed.layouts.size(); ++slot) {
    const OptionalMeta& meta = placed.call.inputs[slot];
    if (!meta) continue;
    PlanOptions from_there = options;
    from_there.from_outermost = placed.outermosts[slot];
    Result<std::shared_ptr<const Plan>> plan =
        planner.plan(*meta, placed.layouts[slot], strategy->inputs[slot], from_there);
    if (!plan.ok()) return annotate(plan.status(), fmt::format("input {}", slot));
    if (!(*plan)->steps.empty()) chosen.op.plans[slot] = *std::move(plan);
  }
  return chosen;
}

Result<DrawnInputs> draw_inputs(const Op& op, const PlacedCall& placed, const Mesh& mesh,
                                uint64_t seed) {
  DrawnInputs drawn;
  const uint64_t key = mix_text(seed, op.name() + format_call(placed.call, placed.domains));
  const std::vector<double> constants = attribute_constants(placed.call);
  for (size_t slot = 0; slot < placed.call.inputs.size(); ++slot) {
    const OptionalMeta& meta = placed.call.inputs[slot];
    drawn.whole.emplace_back();
    drawn.locals.emplace_back();
    if (!meta) continue;
    for (const Placement& placement : placed.layouts[slot].placements) {
      if (is_joint(placement)) {
        return unimplemented("input {} is {}: only built-in partial kinds are drawn", slot,
                             format_placement(placement));
      }
    }
    if (Status status = check_allocatable(*meta); !status.ok()) return status;
    const uint64_t slot_key = mix_key(key, slot);
    drawn.whole[slot] =
        draw_values(*meta, placed.domains[slot], DrawKind::kIntegers, constants, Random(slot_key));
    drawn.locals[slot] = split_over_mesh(*drawn.whole[slot], placed.layouts[slot], mesh,
                                         placed.domains[slot], mix_key(slot_key, 1));
    if (placed.outermosts[slot] == 0) continue;
    for (Tensor& local : drawn.locals[slot]) {
      Tensor laid = Tensor::zeros({local.dtype(), local.shape(),
                                   strides_with_outermost(local.shape(), placed.outermosts[slot])});
      copy_elements(local, laid);
      local = std::move(laid);
    }
  }
  return drawn;
}

}  // namespace onedim
