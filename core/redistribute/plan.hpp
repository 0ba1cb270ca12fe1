#pragma once
// Plan: a redistribution as plain data: the steps from one layout to another with what each costs.
// Invariants: a step begins where the one before it ended; the cost is the sum of the steps' costs,
// all by one cost model; each step is a row of step_kind.hpp's table. Immutable once made.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/cost/collective.hpp"
#include "core/layout/layout.hpp"
#include "core/redistribute/step_kind.hpp"

namespace onedim {

struct PlanStep {
  StepKind kind = StepKind::kAlias;
  MeshDimSet mesh_dims = 0;  // bit d: mesh dim d
  Layout from;               // mesh dims of size 1 are R
  Layout to;
  // The tensor dims that are outermost in memory before and after; 0 is row-major.
  int from_outermost = 0;
  int to_outermost = 0;
  int64_t bytes = 0;  // that a rank receives at most, padding included
  double us = 0;
  // Buffers of the rank that needs most, and how much of them is padding.
  int64_t pack_bytes = 0;
  int64_t unpack_bytes = 0;
  int64_t padding_bytes = 0;
  // Target, buffers and the storage of the source, which a view keeps whole.
  int64_t memory_bytes = 0;
  bool is_view = false;  // the target lies in the source's storage
  bool operator==(const PlanStep&) const = default;
};

struct Plan {
  Layout from;
  Layout to;
  int from_outermost = 0;  // see PlanStep
  int to_outermost = 0;
  std::vector<PlanStep> steps;
  double cost_us = 0;
  int64_t bytes = 0;  // sum over the steps
  int64_t lower_bound_bytes =
      0;                   // no way to get from `from` to `to` lets the busiest rank receive less
  int64_t peak_bytes = 0;  // largest memory_bytes of a step
  int collective_count = 0;

  // bytes / lower bound; 1 where both are 0, and a bound of 0 counts as 1 byte.
  double ratio() const;
  bool operator==(const Plan&) const = default;
};

// The tensor dims that a step cuts, joins or cuts otherwise, ascending.
std::vector<int> changed_tensor_dims(const PlanStep& step);

// One line a step, then the sums.
std::string format_plan(const Plan& plan, const Mesh& mesh);
// `{"steps":[{"kind","mesh_dims","tensor_dims","from","to","bytes","us",..}],"cost_us","bytes",..}`.
nlohmann::ordered_json plan_to_json(const Plan& plan, const Mesh& mesh);
// The same on every machine and in every run; plans that do the same steps share it, whatever they
// cost.
uint64_t plan_fingerprint(const Plan& plan, const Mesh& mesh);

}  // namespace onedim
