#include "core/exec/rank_program.hpp"

#include <thread>

namespace onedim {
namespace {

Status run_in_step(std::span<RankProgram* const> programs) {
  for (size_t stage = 0; stage < programs[0]->stage_count(); ++stage) {
    for (RankProgram* program : programs) {
      if (Status status = program->begin(stage); !status.ok()) return status;
    }
    for (RankProgram* program : programs) {
      if (Status status = program->end(stage); !status.ok()) return status;
    }
  }
  return {};
}

// Which of several failures came first depends on the threads; the rank does not.
Status run_on_threads(SimWorld& world, std::span<RankProgram* const> programs) {
  std::vector<Status> statuses(programs.size());
  std::vector<std::thread> threads;
  const Status aborted = absl::AbortedError("another rank has failed");
  for (size_t rank = 0; rank < programs.size(); ++rank) {
    threads.emplace_back([&, rank] {
      statuses[rank] = run_rank(*programs[rank]);
      if (!statuses[rank].ok()) world.abort(aborted);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Status first;
  for (const Status& status : statuses) {
    if (!status.ok() && status != aborted) return status;
    if (first.ok()) first = status;
  }
  return first;
}

}  // namespace

Status run_rank(RankProgram& program) {
  for (size_t stage = 0; stage < program.stage_count(); ++stage) {
    if (Status status = program.begin(stage); !status.ok()) return status;
    if (Status status = program.end(stage); !status.ok()) return status;
  }
  return {};
}

Status run_ranks(SimWorld& world, std::span<RankProgram* const> programs) {
  if (static_cast<int64_t>(programs.size()) != world.mesh().rank_count()) {
    return invalid_argument("{} programs for the {} ranks of {}", programs.size(),
                            world.mesh().rank_count(), world.mesh().format());
  }
  return world.has_threads() ? run_on_threads(world, programs) : run_in_step(programs);
}

}  // namespace onedim
