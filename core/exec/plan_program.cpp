#include "core/exec/plan_program.hpp"

namespace onedim {

PlanProgram::PlanProgram(const Plan& plan, RunSetting setting, const RankSite& site,
                         std::vector<Tensor> locals)
    : run_(plan, std::move(setting), site) {
  run_.start(std::move(locals));
}

Result<PlanRunReport> run_plan_on_sim(const Plan& plan, const RunSetting& setting,
                                      const GroupLocals& locals, const SimOptions& options) {
  SimWorld world(setting.mesh, options);
  const RunClock clock;
  PlanRunReport report;
  const auto ranks = static_cast<size_t>(setting.mesh.rank_count());
  report.traces.resize(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) report.memories.emplace_back(clock);
  std::vector<std::unique_ptr<PlanProgram>> programs;
  std::vector<RankProgram*> pointers;
  for (size_t rank = 0; rank < ranks; ++rank) {
    std::vector<Tensor> mine;
    for (const std::vector<Tensor>& tensor : locals) mine.push_back(tensor[rank]);
    const RankSite site{&world.communicator(static_cast<int64_t>(rank)), &report.memories[rank],
                        &report.traces[rank], &clock};
    programs.push_back(std::make_unique<PlanProgram>(plan, setting, site, std::move(mine)));
    pointers.push_back(programs.back().get());
  }
  if (Status status = run_ranks(world, pointers); !status.ok()) return status;
  report.locals.resize(locals.size());
  for (const std::unique_ptr<PlanProgram>& program : programs) {
    for (size_t tensor = 0; tensor < locals.size(); ++tensor)
      report.locals[tensor].push_back(program->locals()[tensor]);
  }
  return report;
}

}  // namespace onedim
