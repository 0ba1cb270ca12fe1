#pragma once
// PlanProgram: one rank's run of one redistribution plan as a program of its own, and all of them
// on the `sim` back end.

#include "core/exec/rank_plan.hpp"
#include "core/exec/rank_program.hpp"
#include "core/redistribute/plan_run.hpp"

namespace onedim {

class PlanProgram : public RankProgram {
 public:
  // As RankPlan; `locals` has one tensor per tensor of the group.
  PlanProgram(const Plan& plan, RunSetting setting, const RankSite& site,
              std::vector<Tensor> locals);
  size_t stage_count() const override { return run_.step_count(); }
  Status begin(size_t stage) override { return run_.begin(stage); }
  Status end(size_t stage) override { return run_.end(stage); }
  const std::vector<Tensor>& locals() const { return run_.locals(); }

 private:
  RankPlan run_;
};

struct PlanRunReport {
  GroupLocals locals;                // under plan.to
  std::vector<RankTrace> traces;     // per rank
  std::vector<RankMemory> memories;  // per rank
};

Result<PlanRunReport> run_plan_on_sim(const Plan& plan, const RunSetting& setting,
                                      const GroupLocals& locals, const SimOptions& options);

}  // namespace onedim
