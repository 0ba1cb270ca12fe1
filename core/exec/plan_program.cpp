#include "core/exec/plan_program.hpp"

#include "core/exec/sim_ranks.hpp"

namespace onedim {

PlanProgram::PlanProgram(const Plan& plan, RunSetting setting, const RankSite& site,
                         std::vector<Tensor> locals)
    : run_(plan, std::move(setting), site) {
  run_.start(std::move(locals));
}

Result<PlanRunReport> run_plan_on_sim(const Plan& plan, const RunSetting& setting,
                                      const GroupLocals& locals, const SimOptions& options) {
  SimRanks ranks(setting.mesh, options);
  std::vector<std::unique_ptr<PlanProgram>> programs;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<Tensor> mine;
    for (const std::vector<Tensor>& tensor : locals) mine.push_back(tensor[rank]);
    programs.push_back(
        std::make_unique<PlanProgram>(plan, setting, ranks.site(rank), std::move(mine)));
  }
  if (const Result<double> us = ranks.run(programs); !us.ok()) return us.status();
  PlanRunReport report;
  report.locals.resize(locals.size());
  for (const std::unique_ptr<PlanProgram>& program : programs) {
    for (size_t tensor = 0; tensor < locals.size(); ++tensor)
      report.locals[tensor].push_back(program->locals()[tensor]);
  }
  report.traces = std::move(ranks.traces);
  report.memories = std::move(ranks.memories);
  return report;
}

}  // namespace onedim
