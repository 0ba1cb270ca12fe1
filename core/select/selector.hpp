#pragma once
// Selector: the cheapest strategy of an op for inputs that already lie somewhere, exactly, on one
// mesh under one planner. Decisions are kept under everything that can change them and nothing
// else: op, attributes, metas, layouts, required outputs, options; and, for ops whose rules, shapes
// and checks alone see the attributes, under what these said, so that scalars that change nothing
// share a decision. Thread-safe.
//
// Cutting orders that are tried: that of the mesh, those of the layouts at hand and, for a view
// with rules such as "SS(0,8) | S(1)", which hold under some orders only, all orders of up to four
// mesh dims.
//
// Exactness: the layouts of every input are settled in order of cost up to a radius, all strategies
// over settled layouts are searched (StrategySearch), and the radius grows until the best found
// costs no more than it; a strategy that needs an unsettled layout costs more than that. The order
// counts what other inputs must at least pay to fit a layout (OtherMoves), so that layouts that
// only dear strategies ask for are never settled.

#include <optional>

#include "core/base/memo.hpp"
#include "core/cost/roofline.hpp"
#include "core/pack/registry.hpp"
#include "core/redistribute/planner.hpp"
#include "core/select/decision.hpp"
#include "core/select/select_request.hpp"

namespace onedim {

struct SelectCounters {
  int64_t hits = 0;         // by the whole key
  int64_t shared_hits = 0;  // by what the rules said
  int64_t misses = 0;
  int64_t evictions = 0;
};

class Selector {
 public:
  static constexpr size_t kCapacity = 1 << 14;

  // `registry` and `planner` are borrowed and must outlive this. Requests in which compute counts
  // need a roofline.
  Selector(const Registry& registry, Planner& planner, size_t capacity = kCapacity,
           std::optional<Roofline> roofline = std::nullopt);

  Planner& planner() { return planner_; }

  // Errors name the op, and where moves are forbidden or an output is written in place, the
  // cheapest legal alternative.
  Result<std::shared_ptr<const Decision>> select(const SelectRequest& request);
  // The same, neither looked up nor kept.
  Result<std::shared_ptr<const Decision>> decide(const SelectRequest& request);
  // The cheapest whose input layouts are not `chosen`'s; NotFound if there is none.
  Result<std::shared_ptr<const Decision>> runner_up(const SelectRequest& request,
                                                    const Decision& chosen);

  SelectCounters counters() const;
  void clear();  // forgets all decisions

 private:
  Result<std::shared_ptr<const Decision>> decide_and_keep(const SelectRequest& request,
                                                          MemoKey key);
  const Roofline* roofline() const { return roofline_ ? &*roofline_ : nullptr; }

  const Registry& registry_;
  Planner& planner_;
  std::optional<Roofline> roofline_;
  Memo<std::shared_ptr<const Decision>> by_request_;
  Memo<std::shared_ptr<const Decision>> by_meaning_;
};

}  // namespace onedim
