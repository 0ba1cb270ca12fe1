#include "tools/idle_rules.hpp"

#include <algorithm>
#include <set>

#include "core/pack/foreign_call.hpp"

namespace onedim {
namespace {

// Whether `fitted` is what a call makes of the table's `declared`: `-` where a tensor is absent,
// and no slot where a number stands for one.
bool is_fitted(const std::vector<Placement>& fitted, const std::vector<Placement>& declared) {
  size_t slot = 0;
  for (const Placement& placement : declared) {
    if (slot == fitted.size()) break;
    if (fitted[slot].is_none() || fitted[slot] == placement) ++slot;
  }
  return slot == fitted.size();
}

bool fits_one(const Rule& declared, const std::vector<Rule>& fitted) {
  return std::any_of(fitted.begin(), fitted.end(), [&](const Rule& rule) {
    return is_fitted(rule.outputs, declared.outputs) && is_fitted(rule.inputs, declared.inputs);
  });
}

// The first partial kind of the rule that no pack offers, or "".
std::string unknown_kind(const Rule& rule, const Registry& registry) {
  for (const auto* side : {&rule.outputs, &rule.inputs}) {
    for (const Placement& placement : *side) {
      if (placement.is_partial() && !is_builtin_partial(placement.partial) &&
          registry.find_partial_kind(placement.partial) == nullptr)
        return placement.partial;
    }
  }
  return "";
}

Result<std::vector<Rule>> declared_rules(const Op& op, const std::string& text) {
  const Result<CallText> call = parse_call(op.schema, text);
  if (!call.ok()) return call.status();
  const ForeignCall running(op, "infer or the rules");
  const Result<std::vector<OptionalOutput>> outputs = op.infer(call->call);
  if (!outputs.ok()) return outputs.status();
  return op.declared_rules(call->call, *outputs);
}

std::vector<std::string> calls_of(const Op& op, const std::optional<std::string>& call) {
  if (call) return {*call};
  const ForeignCall running(op, "the samples");
  Result<std::vector<std::string>> samples = op.samples();
  return samples.ok() ? *std::move(samples) : std::vector<std::string>();
}

}  // namespace

IdleRules idle_rules(const Op& op, const std::optional<std::string>& call,
                     const Registry& registry) {
  std::set<std::string> disabled;
  std::vector<Rule> fitted;
  size_t judged = 0;
  for (const std::string& text : calls_of(op, call)) {
    Result<std::vector<Rule>> rules = declared_rules(op, text);
    if (!rules.ok()) continue;
    ++judged;
    for (Rule& rule : *rules) {
      if (const std::string kind = unknown_kind(rule, registry); !kind.empty()) {
        disabled.insert(fmt::format("rule \"{}\" is disabled: no pack offers the partial kind {}",
                                    format_rule(rule), kind));
      }
      fitted.push_back(std::move(rule));
    }
  }
  IdleRules idle{{disabled.begin(), disabled.end()}, {}};
  if (call || judged == 0) return idle;
  for (const Rule& declared : op.rule_table) {
    if (!fits_one(declared, fitted)) idle.unfit.push_back(format_rule(declared));
  }
  return idle;
}

}  // namespace onedim
