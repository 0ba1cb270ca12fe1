#include "laws.hpp"

namespace nn {
namespace {

constexpr int kUndecided = -1;

Placement undecided() {
  Placement placement{};
  placement.kind = kUndecided;
  return placement;
}
bool is_undecided(const Placement& placement) { return placement.kind == kUndecided; }
bool is_partial(const Placement& placement) { return placement.kind == ONEDIM_PLACEMENT_PARTIAL; }
bool is_idempotent(const Placement& placement) {
  if (!is_partial(placement)) return false;
  const std::string_view kind = view_of(placement.partial);
  return kind == "avg" || kind == "max" || kind == "min";
}
bool is_same(const Placement& a, const Placement& b) {
  return a.kind == b.kind && view_of(a.partial) == view_of(b.partial);
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

LawRules::LawRules(const Call& call, RuleSink& rules, std::vector<Law> laws)
    : call_(call), rules_(rules), laws_(std::move(laws)) {}

// kUndefined where the output is absent. What is written is of the dtype that it has as an
// argument.
DType LawRules::dtype_of(size_t law) const {
  const int slot = static_cast<int>(law);
  if (slot >= call_.output_count()) return call_.tensor(laws_[law].reads.back()).dtype();
  return call_.output(slot).present() ? call_.output(slot).dtype() : DType::kUndefined;
}

// Records that a slot must be placed so; false if that contradicts what was recorded.
bool LawRules::demand(std::string_view name, const Placement& placement,
                      std::vector<Placement>& inputs) const {
  if (!call_.has_tensor(name)) return true;
  const int slot = call_.slot(name);
  Placement& recorded = inputs[static_cast<size_t>(slot)];
  if (is_partial(placement) &&
      !is_legal_partial(view_of(placement.partial), call_.input(slot).dtype()))
    return false;
  if (is_undecided(recorded)) {
    recorded = placement;
    return true;
  }
  if (is_same(recorded, placement)) return true;
  const bool recorded_yields = is_replicate(recorded) || is_idempotent(recorded);
  const bool yields = is_replicate(placement) || is_idempotent(placement);
  if (recorded_yields && yields) recorded = replicate();
  return recorded_yields && yields;
}

bool LawRules::unify(const Family& family, const KindPair& kinds, const Law& law,
                     std::vector<Placement>& inputs) const {
  bool any = false;
  for (const std::string_view name : family.group) any = any || call_.has_tensor(name);
  if (!any) return false;
  for (const std::string_view name : law.reads) {
    const Placement wanted = contains(family.group, name) ? partial(kinds.in) : replicate();
    if (!demand(name, wanted, inputs)) return false;
  }
  return true;
}

void LawRules::choose(size_t output, std::vector<Placement> outputs,
                      std::vector<Placement> inputs) {
  if (output == laws_.size()) {
    outputs.resize(static_cast<size_t>(call_.output_count()));
    return emit(outputs, std::move(inputs), {});
  }
  const DType dtype = dtype_of(output);
  if (dtype == DType::kUndefined) {
    outputs.push_back(absent());
    return choose(output + 1, std::move(outputs), std::move(inputs));
  }
  const Law& law = laws_[output];
  const auto go_on = [&](const Placement& placement, std::vector<Placement> decided) {
    std::vector<Placement> chosen = outputs;
    chosen.push_back(placement);
    choose(output + 1, std::move(chosen), std::move(decided));
  };
  std::vector<Placement> replicated = inputs;
  bool fits = true;
  for (const std::string_view name : law.reads)
    fits = fits && demand(name, replicate(), replicated);
  if (fits) go_on(replicate(), std::move(replicated));
  for (const Family& family : law.families) {
    for (const KindPair& kinds : family.table) {
      std::vector<Placement> decided = inputs;
      if (is_legal_partial(kinds.out, dtype) && unify(family, kinds, law, decided))
        go_on(partial(kinds.out), std::move(decided));
    }
  }
}

// What no output reads may be unsharded in every way.
void LawRules::emit(const std::vector<Placement>& outputs, std::vector<Placement> inputs,
                    const RuleOptions& options, size_t from) {
  while (from < inputs.size() && !is_undecided(inputs[from])) ++from;
  if (from == inputs.size()) return rules_.add(outputs, inputs, options);
  inputs[from] = replicate();
  emit(outputs, inputs, options, from + 1);
  for (const KindPair& kind : kIdentity) {
    if (!is_legal_partial(kind.in, call_.input(static_cast<int>(from)).dtype())) continue;
    inputs[from] = partial(kind.in);
    emit(outputs, inputs, options, from + 1);
  }
}

void LawRules::add_partials() {
  std::vector<Placement> inputs(static_cast<size_t>(call_.input_count()), undecided());
  for (int slot = 0; slot < call_.input_count(); ++slot) {
    if (!call_.input(slot).present()) inputs[static_cast<size_t>(slot)] = absent();
  }
  choose(0, {}, std::move(inputs));
}

void LawRules::add_cut(std::vector<Placement> outputs, const std::vector<RuleSink::Named>& inputs,
                       const RuleOptions& options) {
  std::vector<Placement> placed(static_cast<size_t>(call_.input_count()), undecided());
  for (int slot = 0; slot < call_.input_count(); ++slot) {
    if (!call_.input(slot).present()) placed[static_cast<size_t>(slot)] = absent();
  }
  for (size_t output = 0; output < laws_.size(); ++output) {
    if (dtype_of(output) == DType::kUndefined) {
      outputs[output] = absent();
      continue;
    }
    for (const std::string_view name : laws_[output].reads) {
      if (call_.has_tensor(name)) placed[static_cast<size_t>(call_.slot(name))] = replicate();
    }
  }
  for (const auto& [name, placement] : inputs) {
    if (!call_.has_tensor(name)) continue;
    const TensorView tensor = call_.tensor(name);
    const bool cuts =
        placement.kind == ONEDIM_PLACEMENT_SHARD || placement.kind == ONEDIM_PLACEMENT_ANY_SHARD;
    if (cuts && tensor.size(placement.dim) == 1) return;
    placed[static_cast<size_t>(call_.slot(name))] = placement;
  }
  emit(outputs, std::move(placed), options);
}

}  // namespace nn
