#pragma once
// Graph run flags: what `run` accepts where it runs a graph, and how that becomes a graph under a
// solution: by a plan file, or by hand placement (hand_placement.hpp), of which select decides all
// that is not said.

#include "core/graph/hand_placement.hpp"
#include "core/graph/solution_file.hpp"
#include "tools/graph_source.hpp"
#include "tools/planning_flags.hpp"

namespace onedim {

struct GraphRunFlags {
  GraphSource source;
  std::string plan;
  std::string place;
  std::string save_plan;
  std::string check_dtype;

  // `source.name` stays empty where no graph is typed.
  void add_to(CLI::App& command);
  bool is_given() const { return !source.name.empty(); }
  // Whether it is to be run again with all floats as f64.
  Result<bool> is_checked_in_f64() const;
  // The solution, by whose prices it was made; written where that is asked for, if `may_write`: of
  // several processes one does.
  Result<ReadSolution> solve(const ResolvedGraph& resolved, const PlanningFlags& planning,
                             bool may_write) const;

 private:
  Result<ReadSolution> place_by_hand(const ResolvedGraph& resolved,
                                     const PlanningFlags& planning) const;
};

}  // namespace onedim
