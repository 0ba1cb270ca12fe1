#include "tools/local_refusals.hpp"

#include <algorithm>

#include "core/validate/rank_set.hpp"
#include "core/validate/rule_judge.hpp"

namespace onedim {

std::vector<LocalRefusal> local_refusals(const Subject& subject, const Rule& rule,
                                         const std::vector<int64_t>& worlds) {
  const std::string name = subject.op->name() + ": ";
  std::vector<LocalRefusal> refusals;
  for (const int64_t world : worlds) {
    if (!rule_applies(rule, subject, world)) continue;
    const Status acceptance = acceptance_of(subject, world, {rule.inputs, rule.outputs, rule.tag});
    if (acceptance.ok()) continue;
    std::string_view reason = message_of(acceptance);
    if (reason.starts_with(name)) reason.remove_prefix(name.size());
    const auto known =
        std::find_if(refusals.begin(), refusals.end(),
                     [&](const LocalRefusal& refusal) { return refusal.reason == reason; });
    if (known == refusals.end())
      refusals.push_back({{world}, std::string(reason)});
    else
      known->ranks.push_back(world);
  }
  return refusals;
}

}  // namespace onedim
