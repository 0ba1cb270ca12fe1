#include "core/redistribute/plan_run.hpp"

namespace onedim {
namespace {

// Each team once, when its first rank comes.
Status run_calls(const PlanStep& step, const Mesh& mesh, std::span<const RankStep> ranks) {
  for (size_t call = 0; call < ranks[0].calls().size(); ++call) {
    for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
      const Team team = team_of(mesh, step.mesh_dims, rank);
      if (team.place != 0) continue;
      std::vector<const CollectiveCall*> members;
      for (const int64_t member : team.ranks)
        members.push_back(&ranks[static_cast<size_t>(member)].calls()[call]);
      if (Status status = run_collective(mesh, team, members); !status.ok()) return status;
    }
  }
  return {};
}

Result<GroupLocals> run_step(const PlanStep& step, const RunSetting& setting,
                             const GroupLocals& locals) {
  Allocator allocator;
  std::vector<RankStep> ranks;
  for (int64_t rank = 0; rank < setting.mesh.rank_count(); ++rank) {
    ranks.emplace_back(step, setting, rank, allocator);
    std::vector<Tensor> mine;
    for (const std::vector<Tensor>& tensor : locals)
      mine.push_back(tensor[static_cast<size_t>(rank)]);
    if (Status status = ranks.back().begin(mine); !status.ok()) return status;
  }
  if (Status status = run_calls(step, setting.mesh, ranks); !status.ok()) return status;
  GroupLocals next(locals.size());
  for (RankStep& rank : ranks) {
    Result<std::vector<Tensor>> results = rank.finish();
    if (!results.ok()) return results.status();
    for (size_t tensor = 0; tensor < next.size(); ++tensor)
      next[tensor].push_back(std::move((*results)[tensor]));
  }
  return next;
}

}  // namespace

Result<GroupLocals> run_plan(const Plan& plan, const RunSetting& setting, GroupLocals locals) {
  for (const PlanStep& step : plan.steps) {
    Result<GroupLocals> next = run_step(step, setting, locals);
    if (!next.ok()) return next.status();
    locals = *std::move(next);
  }
  return locals;
}

}  // namespace onedim
