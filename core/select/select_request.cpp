#include "core/select/select_request.hpp"

#include "core/redistribute/planner.hpp"

namespace onedim {

PlanOptions plan_options(const SelectOptions& options, int from_outermost) {
  return {options.policy, options.memory_bytes, options.allow_shard_to_partial, from_outermost, 0};
}

}  // namespace onedim
