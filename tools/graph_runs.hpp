#pragma once
// Graph runs: what `run GRAPH` does: places the graph, draws values, runs it on simulated ranks or
// on MPI, in its own dtypes and, where that is asked for, in f64, and tells what came of it.

#include "core/exec/graph_run.hpp"
#include "tools/graph_run_flags.hpp"
#include "tools/mpi_backend.hpp"

namespace onedim {

// What all kinds of runs have in common.
struct RunSettings {
  std::string backend = "sim";
  std::string seed = "1";
  std::string trace;  // file, or ""
  bool has_threads = false;
  bool is_deterministic = false;  // back ends that always are need no word
  bool report = false;
  bool memory_log = false;
};

struct GraphBackend {
  SimOptions sim;
  MpiBackend* mpi = nullptr;  // null: on `sim`
};

Result<ExitCode> run_graph(Session& session, const GraphRunFlags& flags,
                           const PlanningFlags& planning, const RunSettings& settings,
                           const GraphBackend& backend);

}  // namespace onedim
