#pragma once
// Move plan read: the plan of a move as files have it, the keys of plan_to_json in a move's object.

#include <memory>

#include "core/graph/json_keys.hpp"
#include "core/redistribute/plan.hpp"

namespace onedim {

// `ndim`: dims of the tensor that moves. The steps lead from `from` to `to` without a gap.
Result<std::shared_ptr<const Plan>> read_move_plan(const JsonKeys& move, const Layout& from,
                                                   const Layout& to, const Mesh& mesh, int ndim);

}  // namespace onedim
