#pragma once
// Assignment check: what an assignment really costs and holds, computed from the network alone. It
// shares nothing with the solver, whose answers it judges.

#include "core/base/status.hpp"
#include "core/solve/wide_cost.hpp"

namespace onedim {

struct AssignmentCheck {
  WideCost cost = 0;
  int64_t forbidden = 0;    // costs of kForbidden or more among them
  WideCost peak_bytes = 0;  // over time
  int64_t peak_time = 0;    // the first time of the peak
  bool is_within_limit = true;
};

// Errors: an assignment of another length, or a value that its node does not have.
Result<AssignmentCheck> check_assignment(const CostNetwork& network, const Assignment& assignment);

}  // namespace onedim
