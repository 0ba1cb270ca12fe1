#pragma once
// SimRanks: what a run on the `sim` back end sets up for its ranks: the world, one clock for all,
// and for each rank where it stands, what it holds and what it did. Programs are made by the
// caller, one a rank in rank order, and run once.

#include "core/exec/rank_plan.hpp"
#include "core/exec/rank_program.hpp"

namespace onedim {

class SimRanks {
 public:
  SimRanks(const Mesh& mesh, const SimOptions& options);

  size_t size() const { return traces.size(); }
  const RunClock& clock() const { return clock_; }
  RankSite site(size_t rank);
  // Returns how long they took, in us.
  template <typename Program>
  Result<double> run(const std::vector<std::unique_ptr<Program>>& programs) {
    std::vector<RankProgram*> pointers;
    for (const std::unique_ptr<Program>& program : programs) pointers.push_back(program.get());
    return run_all(pointers);
  }

  std::vector<RankTrace> traces;     // per rank
  std::vector<RankMemory> memories;  // per rank; their logs outlive this, they themselves do not

 private:
  Result<double> run_all(std::span<RankProgram* const> programs);

  SimWorld world_;
  RunClock clock_;
};

}  // namespace onedim
