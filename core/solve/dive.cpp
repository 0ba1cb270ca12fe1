#include "core/solve/dive.hpp"

#include <algorithm>

#include "core/solve/core_state.hpp"
#include "core/solve/value_pruning.hpp"

namespace onedim {
namespace {

constexpr double kShare = 0.2;  // of the open nodes, fixed in a round

struct Lead {
  int node = 0;
  int value = 0;
  Cost lead = 0;  // of the cheapest value over the next
};

std::vector<Lead> leads_of(const CoreNetwork& core, const DualBound& dual) {
  std::vector<Lead> leads;
  for (int node = 0; node < core.size; ++node) {
    const int first = core.first_value[node];
    Lead lead{node, -1, kBlocked};
    int alive = 0;
    for (int v = 0; v < core.domain(node); ++v) {
      if (!dual.is_alive(first + v)) continue;
      ++alive;
      if (lead.value < 0 || dual.excess(first + v) < dual.excess(first + lead.value)) {
        if (lead.value >= 0) lead.lead = dual.excess(first + lead.value);
        lead.value = v;
      } else {
        lead.lead = std::min(lead.lead, dual.excess(first + v));
      }
    }
    if (alive < 2) continue;
    lead.lead -= dual.excess(first + lead.value);
    leads.push_back(lead);
  }
  std::stable_sort(leads.begin(), leads.end(),
                   [](const Lead& x, const Lead& y) { return x.lead > y.lead; });
  return leads;
}

void fix(const CoreNetwork& core, DualBound& dual, const Lead& lead) {
  for (int v = 0; v < core.domain(lead.node); ++v) {
    if (v != lead.value) dual.block(core.first_value[lead.node] + v);
  }
}

bool settle(const CoreNetwork& core, DualBound& dual, Cost cutoff) {
  for (int round = 0; round < 2; ++round) {
    dual.sweep(true);
    if (!dual.is_infeasible()) dual.sweep(false);
    if (dual.is_infeasible()) return false;
    const Pruned pruned = prune_values(core, dual, cutoff);
    if (pruned == Pruned::kInfeasible) return false;
    if (pruned == Pruned::kNothing) break;
  }
  return true;
}

// Drops leads that do not go with those before them on an edge or in memory.
std::vector<Lead> compatible(const CoreNetwork& core, const std::vector<Lead>& leads,
                             size_t count) {
  std::vector<int> taken(core.size, -1);
  std::vector<Lead> kept;
  for (size_t i = 0; i < leads.size() && kept.size() < count; ++i) {
    const Lead& lead = leads[i];
    bool fits = true;
    for (const CoreLink& link : core.links_of(lead.node)) {
      const int other = taken[link.other];
      if (other < 0) continue;
      const CoreEdge& e = core.edges[link.edge];
      const bool is_a = e.a == lead.node;
      if (is_blocked(
              core.pair_cost(link.edge, is_a ? lead.value : other, is_a ? other : lead.value)))
        fits = false;
    }
    if (!fits) continue;
    taken[lead.node] = lead.value;
    kept.push_back(lead);
  }
  return kept;
}

// One round: false if nothing can be fixed any more without a contradiction.
bool advance(const CoreNetwork& core, DualBound& dual, Cost cutoff, const std::vector<Lead>& leads,
             const StopTime& stop) {
  auto count = static_cast<size_t>(std::max(1.0, kShare * static_cast<double>(leads.size())));
  while (true) {
    DualBound next = dual;
    for (const Lead& lead : compatible(core, leads, count)) fix(core, next, lead);
    const bool is_open = settle(core, next, cutoff);
    if (is_open) {
      dual = std::move(next);
      return true;
    }
    dual.add_effort(next.effort() - dual.effort());
    if (stop.is_past()) return false;
    if (count == 1) break;
    count = (count + 3) / 4;
  }
  dual.block(core.first_value[leads[0].node] + leads[0].value);
  return settle(core, dual, cutoff);
}

}  // namespace

DiveResult dive(const CoreNetwork& core, DualBound dual, Cost cutoff, int64_t most_effort,
                const StopTime& stop) {
  DiveResult result;
  const int64_t start = dual.effort();
  bool is_open = settle(core, dual, cutoff);
  while (is_open && dual.effort() - start < most_effort && !stop.is_past()) {
    const std::vector<Lead> leads = leads_of(core, dual);
    if (leads.empty()) break;
    is_open = advance(core, dual, cutoff, leads, stop);
  }
  if (is_open) dual.sweep(true);
  result.effort = dual.effort() - start;
  if (is_open && !dual.is_infeasible() && cost_of(core, dual.cheapest()) < cutoff &&
      is_within_capacity(core, dual.cheapest()))
    result.values = dual.cheapest();
  return result;
}

}  // namespace onedim
