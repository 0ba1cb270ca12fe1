#pragma once
// Reduction: makes a network smaller and keeps an optimal solution of it.
//   - a value goes if it is blocked, has no partner on some edge, or holds more memory than is left
//     when all others hold their least (a pair likewise is blocked); or if another value is nowhere
//     dearer and holds no more (Goldstein's dominance);
//   - an edge that is a sum of a row and a column part goes into its ends;
//   - nodes whose values determine each other become one, which holds the memory of both;
//   - a node of degree 0, 1 or 2 goes if, for each choice of its neighbours, one of its values is
//     best in cost and in memory; with two neighbours only a node that holds no memory;
//   - points in time at which the limit cannot be exceeded, or that another implies, go.
// Each elimination records how the value follows from the neighbours', so that a solution of what
// is left extends to one of the whole network.

#include <span>

#include "core/solve/work_network.hpp"

namespace onedim {

class Reduction {
 public:
  // `network` is borrowed.
  explicit Reduction(WorkNetwork& network);

  // To the end, from what changed since the last time. False: there is no feasible assignment.
  bool run();
  // For values that a bound proved useless; `run` must follow. False as in `run`.
  bool keep_values(int node, const std::vector<char>& keep);
  // Gives every node that went in the first `steps` its value of the original network; entries of
  // nodes that were left then must hold theirs.
  void extend(Assignment& assignment, size_t steps) const;
  size_t steps() const { return eliminations_.size(); }  // so far

  int64_t effort() const { return effort_; }  // cells looked at

 private:
  struct Elimination {
    int node = 0;
    std::vector<int> neighbours;            // at most two
    std::vector<std::vector<int>> origins;  // of the neighbours' values then
    std::vector<int> choice;                // original value, by the neighbours' values, row by row
  };
  struct Best {
    int value = 0;
    Cost cost = kBlocked;
  };

  void touch(int node);
  bool process(int node);
  bool prune_unsupported(int node);
  void drop_separable_edges(int node);
  void prune_dominated(int node);
  bool dominates(int node, int better, int worse);

  bool eliminate(int node);
  void eliminate_fixed(int node);
  bool eliminate_isolated(int node);
  bool eliminate_leaf(int node);
  bool eliminate_between(int node);
  // The value that is best in cost and in memory, given what each costs; value -1 if there is none.
  Best best_value(int node, std::span<const Cost> costs);
  bool merge_determined(int node);
  bool try_merge(int edge, int gone, int kept);
  std::vector<int> partners(int edge, int gone, int kept);
  void record(int node, std::vector<int> neighbours, std::vector<int> choice);

  bool reduce_memory();
  void take_least_bytes();
  std::vector<char> needed_points() const;
  int64_t drop_implied_points();
  void renumber_points(const std::vector<char>& needed);
  bool prune_heavy_values();
  void block_heavy_pairs();

  WorkNetwork& network_;
  std::vector<Elimination> eliminations_;
  std::vector<int> queue_;
  std::vector<char> is_queued_;
  int64_t effort_ = 0;
};

}  // namespace onedim
