#pragma once
// MPI graph: a graph under a solution on this process as one rank of MPI, judged by all ranks
// together (dealt_judge.hpp), so that each reports on all as `sim` does.

#include "core/exec/graph_run.hpp"
#include "core/exec/mpi_world.hpp"

namespace onedim {

// What must be loaded before it runs.
std::set<MeshDimSet> mesh_dims_of(const GraphTask& task);
// What ranks must have alike of it: graph, packs, strategies and moves.
Status describe_graph(const GraphTask& task, RunDescription& description);

// As run_graph_on_sim, of which `options.sim` alone does not count; `locals`, too, are of all
// ranks. The report's time is without that of judging.
Result<GraphRunReport> run_graph_on_mpi(const GraphTask& task, std::span<const Tensor> whole,
                                        std::span<const std::vector<Tensor>> locals,
                                        const GraphRunOptions& options, MpiWorld& world);

}  // namespace onedim
