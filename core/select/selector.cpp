#include "core/select/selector.hpp"

#include "core/select/decider.hpp"
#include "core/select/request_key.hpp"

namespace onedim {

Selector::Selector(const Registry& registry, Planner& planner, size_t capacity,
                   std::optional<Roofline> roofline)
    : registry_(registry),
      planner_(planner),
      roofline_(roofline),
      by_request_(capacity),
      by_meaning_(capacity) {}

Result<std::shared_ptr<const Decision>> Selector::decide(const SelectRequest& request) {
  Decider decider(registry_, planner_, roofline(), request);
  if (Status status = decider.prepare(); !status.ok()) return status;
  return decider.decide(nullptr);
}

Result<std::shared_ptr<const Decision>> Selector::runner_up(const SelectRequest& request,
                                                            const Decision& chosen) {
  Decider decider(registry_, planner_, roofline(), request);
  if (Status status = decider.prepare(); !status.ok()) return status;
  return decider.decide(&chosen);
}

Result<std::shared_ptr<const Decision>> Selector::select(const SelectRequest& request) {
  thread_local MemoKey looked_up;  // keeps its memory, so that a hit allocates nothing
  request_key(request, looked_up);
  if (std::optional<std::shared_ptr<const Decision>> known = by_request_.find(looked_up))
    return *std::move(known);
  return decide_and_keep(request, looked_up);
}

Result<std::shared_ptr<const Decision>> Selector::decide_and_keep(const SelectRequest& request,
                                                                  MemoKey key) {
  Decider decider(registry_, planner_, roofline(), request);
  if (Status status = decider.prepare(); !status.ok()) return status;
  MemoKey meaning;
  meaning_key(request, decider.outputs(), decider.choices(), meaning);
  if (std::optional<std::shared_ptr<const Decision>> known = by_meaning_.find(meaning))
    return by_request_.insert(key, *known);
  Result<std::shared_ptr<const Decision>> decision = decider.decide(nullptr);
  if (!decision.ok()) return decision;
  by_meaning_.insert(meaning, *decision);
  return by_request_.insert(key, *std::move(decision));
}

SelectCounters Selector::counters() const {
  const MemoCounters whole = by_request_.counters(), shared = by_meaning_.counters();
  return {whole.hits, shared.hits, shared.misses, whole.evictions + shared.evictions};
}

void Selector::clear() {
  by_request_.clear();
  by_meaning_.clear();
}

}  // namespace onedim
