#pragma once
// Planning flags: what `redistribute`, `select` and other commands that price moves accept, with
// one meaning and one help text.

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "core/cost/cost_model.hpp"
#include "core/cost/roofline.hpp"
#include "core/redistribute/planner.hpp"
#include "core/select/select_request.hpp"

namespace onedim {

struct PlanningFlags {
  std::string mesh;
  std::string cluster = "alpha_beta";
  std::string cost_model;
  std::string policy = "nonempty";
  std::string memory;
  bool allow_shard_to_partial = false;

  void add_to(CLI::App& command);
  // The mesh and the prices on it.
  Result<std::shared_ptr<const CostModel>> make_model() const;
  Result<PlanOptions> plan_options() const;
  Result<SelectOptions> select_options() const;
  // What local calls take on the cluster, under the cost model.
  Result<Roofline> make_roofline() const;
};

}  // namespace onedim
