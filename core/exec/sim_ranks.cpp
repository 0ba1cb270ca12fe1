#include "core/exec/sim_ranks.hpp"

namespace onedim {

SimRanks::SimRanks(const Mesh& mesh, const SimOptions& options)
    : traces(static_cast<size_t>(mesh.rank_count())), world_(mesh, options) {
  for (size_t rank = 0; rank < traces.size(); ++rank) memories.emplace_back(clock_);
}

RankSite SimRanks::site(size_t rank) {
  return {&world_.communicator(static_cast<int64_t>(rank)), &memories[rank], &traces[rank],
          &clock_};
}

Result<double> SimRanks::run_all(std::span<RankProgram* const> programs) {
  const double begin = clock_.us();
  if (Status status = run_ranks(world_, programs); !status.ok()) return status;
  return clock_.us() - begin;
}

}  // namespace onedim
