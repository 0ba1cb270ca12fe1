#pragma once
// Plan price: what a plan that is there, from a file or made by other prices, costs under a cost
// model: the sum of its steps as they stand. Nothing is searched. A plan that the planner found
// under this model costs what it says.

#include "core/cost/cost_model.hpp"
#include "core/redistribute/graph_store.hpp"
#include "core/redistribute/plan.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

// Per step of `plan`, which moves `tensor` on the model's mesh, in us. Partials are built in.
// `graphs` is of that mesh. InvalidArgument names the step that does not lead from its layout to
// the next one.
Result<std::vector<double>> price_steps(const Plan& plan, const TensorMeta& tensor,
                                        const CostModel& model, GraphStore& graphs);

}  // namespace onedim
