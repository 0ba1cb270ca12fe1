#pragma once
// Graph plan report: what `plan` tells of a plan, as text and as JSON: its price and the proof, and
// every collective with bytes and cause. Collectives that differ only by the layer they serve are
// one line, and are counted.

#include "core/plan/graph_plan.hpp"
#include "tools/session.hpp"

namespace onedim {

struct PlanSeconds {
  double load = 0;  // packs and graph
  double build = 0;
  double solve = 0;
};

struct PlannedCollective {
  std::string kind, mesh_dims, from, to;
  std::string cause;  // `layers.*.attention.wq/mm of "wq.weight"`
  int64_t bytes = 0;  // that a rank receives at most, of one
  double us = 0;      // of one
  int64_t count = 0;
};

// The dearest kinds first.
std::vector<PlannedCollective> planned_collectives(const Graph& graph, const Solution& solution);

Json graph_plan_json(const Graph& graph, const GraphPlan& plan, const PlanSeconds& seconds);
std::string graph_plan_text(const Graph& graph, const GraphPlan& plan, const PlanSeconds& seconds);

}  // namespace onedim
