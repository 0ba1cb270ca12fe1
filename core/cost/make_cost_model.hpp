#pragma once
// The cost models by name: `alpha-beta` (rings over links), `nccl` (tables and formulas of NCCL;
// needs a cluster with [nccl]), both with the cluster's measured curves in their place, and
// `autoparallel-h100`, which prices as AutoParallel does, faults included (cluster h100 only).

#include "core/cost/cluster.hpp"
#include "core/cost/cost_model.hpp"

namespace onedim {

// An empty name: the cluster's own model. Errors name the models, and the nearest one.
Result<std::unique_ptr<const CostModel>> make_cost_model(const Cluster& cluster, const Mesh& mesh,
                                                         std::string_view model = "");

}  // namespace onedim
