#pragma once
// MPI back end: `run --backend mpi` on the command's side: this process is one of as many as the
// mesh has ranks, started by a launcher. Rank 0 alone writes stdout; what others have to say goes
// to files in the run's folder. Whatever ends badly is told once, by one rank.

#include <CLI/App.hpp>

#include "core/exec/mpi_world.hpp"
#include "core/exec/sim_world.hpp"
#include "tools/launch.hpp"
#include "tools/session.hpp"

namespace onedim {

struct MpiFlags {
  double deadline = 60;  // seconds
  std::string record, fault, module;
  int64_t largest_count = INT32_MAX;

  void add_to(CLI::App& command);
  // The same fault and deadline where ranks are simulated.
  Result<SimOptions> sim_options(bool has_threads) const;
};

// Where torchrun started this process, or something alike: runs the whole command by mpirun, see
// torchrun_launch.hpp, and gives its code; else nothing.
Result<std::optional<ExitCode>> run_where_torchrun_started();

class MpiBackend {
 public:
  // Before anything is done: is this a rank of a launch at all? All but rank 0 fall silent.
  static Result<MpiBackend> find(Session& session, const MpiFlags& flags);

  // Whether this is rank 0: what is written once, it writes.
  bool is_first() const { return is_first_; }
  // MPI's start.
  Status start(const Mesh& mesh);
  bool has_started() const { return world_ != nullptr; }
  MpiWorld& world() { return *world_; }
  // A collective that failed, or fine: then what was checked after it means nothing.
  void keep_failure(const Status& status) { failure_.Update(status); }
  const Status& failure() const { return failure_; }
  // Of a run that fails, whatever its status says.
  void set_failure_code(ExitCode code) { failure_code_ = code; }
  // The end of a run: the worst of all ranks' codes. A run that failed ends the process.
  Result<ExitCode> finish(const Result<ExitCode>& outcome);

 private:
  MpiBackend(Session& session, MpiOptions options, bool is_first)
      : session_(session), options_(std::move(options)), is_first_(is_first) {}
  [[noreturn]] void give_up(const Status& status);

  Session& session_;
  MpiOptions options_;
  bool is_first_;
  std::unique_ptr<MpiWorld> world_;
  Status failure_;
  std::optional<ExitCode> failure_code_;
};

// What the flight records in a run's folder tell: who was behind, and where each rank was.
Result<std::string> post_mortem(const std::string& folder);

}  // namespace onedim
