#pragma once
// MPI run: plans and sharded ops run on this process as one rank of MPI; what the ranks made is
// brought together, so that each rank reports on all as `sim` does.

#include "core/exec/mpi_world.hpp"
#include "core/exec/op_run.hpp"
#include "core/exec/rank_report.hpp"
#include "core/redistribute/plan_run.hpp"

namespace onedim {

// Where the state of a partial of a pack is settled.
MeshDimSet joint_dims(const Layout& layout);

// What must be loaded before it runs.
std::set<MeshDimSet> mesh_dims_of(const Plan& plan);
std::set<MeshDimSet> mesh_dims_of(const ShardedOp& op);

// What ranks must have alike of a plan, and of an op: with its packs, their files and kinds.
void describe_plan(const Plan& plan, const Mesh& mesh, std::string_view name,
                   RunDescription& description);
Status describe_op(const ShardedOp& op, RunDescription& description);
// The packs of ops and of the partial kinds of `outputs`, by what their files hold; all kinds.
Status describe_packs(std::span<const Op* const> ops, std::span<const Layout> outputs,
                      const Registry& registry, RunDescription& description);

// Every rank's, on every rank; all times are those of rank 0's clock.
Result<std::vector<RankReport>> gather_reports(const RankReport& mine, MpiWorld& world);

// `locals` of all ranks, of which this one's are moved; so are those that come out.
Result<GroupLocals> run_plan_on_mpi(const Plan& plan, const RunSetting& setting,
                                    const GroupLocals& locals, MpiWorld& world);

// As run_sharded_op; `locals`, too, are of all ranks.
Result<OpRunReport> run_sharded_op_on_mpi(const ShardedOp& op, const WholeResult& whole,
                                          std::span<const std::vector<Tensor>> locals,
                                          MpiWorld& world);

}  // namespace onedim
