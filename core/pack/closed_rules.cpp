#include "core/pack/closed_rules.hpp"

#include <algorithm>
#include <array>

#include "core/pack/list_form.hpp"
#include "core/pack/rule_set.hpp"

namespace onedim {
namespace {

constexpr std::array<std::string_view, 3> kIdempotent = {"avg", "max", "min"};
// A list of n tensors has 2^n combinations; above this many, inputs are replaced all or none.
constexpr size_t kMaxCombinations = 4096;

// One call as the closure sees it: of the plain op where the op is a variant.
struct Subject {
  const Op& op;
  const Call& call;
  std::span<const OptionalOutput> outputs;
  const Registry& registry;

  const TensorMeta* output(size_t slot) const {
    return outputs[slot] ? &outputs[slot]->meta : nullptr;
  }
  const TensorMeta* input(size_t slot) const {
    return call.inputs[slot] ? &*call.inputs[slot] : nullptr;
  }
};

// Every kind of a pack that this side names must exist, and all outputs of its group stand on the
// side once.
bool has_whole_groups(const std::vector<Placement>& side, const Registry& registry) {
  for (const Placement& placement : side) {
    if (!placement.is_partial() || is_builtin_partial(placement.partial)) continue;
    const PartialKind* kind = registry.find_partial_kind(placement.partial);
    if (kind == nullptr) return false;
    for (int component = 0; component < kind->output_count; ++component) {
      const Placement wanted = Placement::make_partial(placement.partial, component);
      if (std::count(side.begin(), side.end(), wanted) != 1) return false;
    }
    if (placement.component >= kind->output_count) return false;
  }
  return true;
}

bool is_legal(const TensorMeta* meta, const Placement& placement) {
  return meta == nullptr || !placement.is_partial() ||
         is_legal_partial(placement.partial, meta->dtype);
}

bool is_legal(const Subject& subject, const Rule& rule) {
  for (size_t i = 0; i < rule.outputs.size(); ++i) {
    if (!is_legal(subject.output(i), rule.outputs[i])) return false;
  }
  for (size_t i = 0; i < rule.inputs.size(); ++i) {
    if (!is_legal(subject.input(i), rule.inputs[i])) return false;
  }
  return true;
}

bool expand_any_shard(std::vector<Placement>& side) {
  bool found = false;
  for (Placement& placement : side) {
    if (placement.kind != Placement::Kind::kAnyShard) continue;
    placement.kind = Placement::Kind::kShard;
    found = true;
  }
  return found;
}

bool is_unit_shard(const TensorMeta* meta, const Placement& placement) {
  return meta != nullptr && placement.is_shard() && meta->shape[placement.dim] == 1;
}

void replicate_shards(std::vector<Placement>& side) {
  for (Placement& placement : side) {
    if (placement.is_shard()) placement = Placement::replicate();
  }
}

// S on a dim of size 1 is R. That is what the rule says only where all its shards are such, an
// output among them, and no output is partial: a sum over one index is not a sum over ranks that
// all hold it.
bool settle_unit_shards(const Subject& subject, Rule& rule) {
  size_t shards = 0;
  size_t units = 0;
  bool has_sharded_output = false;
  bool has_partial_output = false;
  for (size_t i = 0; i < rule.outputs.size(); ++i) {
    has_partial_output = has_partial_output || rule.outputs[i].is_partial();
    has_sharded_output = has_sharded_output || rule.outputs[i].is_shard();
    shards += rule.outputs[i].is_shard() ? 1 : 0;
    units += is_unit_shard(subject.output(i), rule.outputs[i]) ? 1 : 0;
  }
  for (size_t i = 0; i < rule.inputs.size(); ++i) {
    shards += rule.inputs[i].is_shard() ? 1 : 0;
    units += is_unit_shard(subject.input(i), rule.inputs[i]) ? 1 : 0;
  }
  if (units == 0) return true;
  if (units < shards || !has_sharded_output || has_partial_output) return false;
  replicate_shards(rule.outputs);
  replicate_shards(rule.inputs);
  rule.requirements.clear();  // they bound lengths that are no longer cut
  rule.even_only = false;
  return true;
}

bool is_idempotent(const Placement& placement) {
  return placement.is_partial() && is_idempotent_partial(placement.partial);
}

// All ways to weaken what is known of the inputs: each P(avg|max|min) as it stands, or R.
std::vector<std::vector<Placement>> input_choices(const Rule& rule) {
  std::vector<size_t> slots;
  for (size_t i = 0; i < rule.inputs.size(); ++i) {
    if (is_idempotent(rule.inputs[i])) slots.push_back(i);
  }
  std::vector<std::vector<Placement>> choices{rule.inputs};
  if ((size_t{1} << std::min<size_t>(slots.size(), 40)) > kMaxCombinations) {
    choices.push_back(rule.inputs);
    for (const size_t slot : slots) choices.back()[slot] = Placement::replicate();
    return choices;
  }
  for (const size_t slot : slots) {
    const size_t count = choices.size();
    for (size_t i = 0; i < count; ++i) {
      choices.push_back(choices[i]);
      choices.back()[slot] = Placement::replicate();
    }
  }
  return choices;
}

// All readings of the outputs: each R as it stands, or as the equal values of P(avg|max|min).
std::vector<std::vector<Placement>> output_choices(const Subject& subject, const Rule& rule) {
  std::vector<std::vector<Placement>> choices{rule.outputs};
  for (size_t slot = 0; slot < rule.outputs.size(); ++slot) {
    if (!rule.outputs[slot].is_replicate()) continue;
    const size_t count = choices.size();
    if (count * 4 > kMaxCombinations) break;
    for (const std::string_view kind : kIdempotent) {
      const Placement partial = Placement::make_partial(std::string(kind));
      if (!is_legal(subject.output(slot), partial)) continue;
      for (size_t i = 0; i < count; ++i) {
        choices.push_back(choices[i]);
        choices.back()[slot] = partial;
      }
    }
  }
  return choices;
}

Rule all_replicate(const Subject& subject) {
  Rule rule;
  const auto placement = [](bool present) {
    return present ? Placement::replicate() : Placement::none();
  };
  for (const OptionalOutput& output : subject.outputs)
    rule.outputs.push_back(placement(output.has_value()));
  for (const OptionalMeta& input : subject.call.inputs)
    rule.inputs.push_back(placement(input.has_value()));
  rule.implied = true;
  return rule;
}

void add_closure(const Subject& subject, const Rule& base, bool any_shard, RuleSet& set) {
  const std::vector<std::vector<Placement>> inputs = input_choices(base);
  for (const std::vector<Placement>& outputs : output_choices(subject, base)) {
    for (const std::vector<Placement>& chosen : inputs) {
      ClosedRule closed{base, any_shard};
      closed.rule.implied = base.implied || outputs != base.outputs || chosen != base.inputs;
      closed.rule.outputs = outputs;
      closed.rule.inputs = chosen;
      if (is_legal(subject, closed.rule)) set.add(std::move(closed));
    }
  }
}

Result<std::vector<ClosedRule>> close_plain(const Subject& subject) {
  Result<std::vector<Rule>> declared = subject.op.declared_rules(subject.call, subject.outputs);
  if (!declared.ok()) return declared.status();
  RuleSet set;
  if ((subject.op.flags & ONEDIM_OP_NO_IMPLIED_REPLICATE) == 0) {
    add_closure(subject, all_replicate(subject), false, set);
  }
  for (Rule& rule : *declared) {
    if (!has_whole_groups(rule.outputs, subject.registry)) continue;
    if (!has_whole_groups(rule.inputs, subject.registry)) continue;
    const bool in_outputs = expand_any_shard(rule.outputs);
    const bool in_inputs = expand_any_shard(rule.inputs);
    if (settle_unit_shards(subject, rule)) add_closure(subject, rule, in_outputs || in_inputs, set);
  }
  return set.take();
}

// The state of a joint partial whose state is not its outputs: a tensor that is written cannot hold
// it.
bool has_hidden_state(const Rule& rule, const Registry& registry) {
  return std::any_of(rule.outputs.begin(), rule.outputs.end(), [&](const Placement& placement) {
    if (!placement.is_partial() || is_builtin_partial(placement.partial)) return false;
    const PartialKind* kind = registry.find_partial_kind(placement.partial);
    return kind != nullptr && kind->state_fn != nullptr;
  });
}

// The closed rules of one plain call that the variant can take over, in the plain call's slots and
// in the variant's. A written tensor must not have to hold a joint partial's hidden state, nor can
// one be made from a call that is not the element's own.
Result<ElementRules> close_one(const Op& op, const Call& call, const PlainCall& plain,
                               std::span<const OptionalOutput> outputs, const Registry& registry) {
  const Subject subject{*op.plain, plain.call, outputs_of_plain(plain, outputs), registry};
  Result<std::vector<ClosedRule>> closed = close_plain(subject);
  if (!closed.ok()) return closed.status();
  const std::vector<int> all_written = written_slots(op, call);
  std::span<const int> written(all_written);
  if (!written.empty()) written = outputs_of_plain(plain, written);
  ElementRules rules;
  for (ClosedRule& rule : *closed) {
    const bool lacks_state = !written.empty() || op.is_list_form();
    if (lacks_state && has_hidden_state(rule.rule, registry)) continue;
    if (op.is_list_form() && rule.rule.tag != 0) continue;  // a rule has one tag, for one kernel
    ClosedRule form = rule;
    if (!rule_of_variant(plain, written, call.inputs.size(), form.rule)) continue;
    rules.of_form.push_back(std::move(form));
    rules.of_plain.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace

Result<std::vector<ClosedRule>> closed_rules(const Op& op, const Call& call,
                                             std::span<const OptionalOutput> outputs,
                                             const Registry& registry) {
  if (op.plain == nullptr) return close_plain({op, call, outputs, registry});
  const Result<std::vector<PlainCall>> plains = plain_calls(op, call);
  if (!plains.ok()) return plains.status();
  std::vector<ElementRules> elements;
  for (const PlainCall& plain : *plains) {
    Result<ElementRules> rules = close_one(op, call, plain, outputs, registry);
    if (!rules.ok()) return rules.status();
    elements.push_back(*std::move(rules));
  }
  RuleSet set;
  for (ClosedRule& rule : combined_rules(elements)) set.add(std::move(rule));
  return set.take();
}

}  // namespace onedim
