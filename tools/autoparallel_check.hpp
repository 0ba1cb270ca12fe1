#pragma once
// AutoParallel check: how a solution of AutoParallel's stands beside ours: which nodes have layouts
// that are no strategy of ours, with the reason, and which of the file's prices differ from those
// that we take AutoParallel to have.

#include <string>
#include <vector>

#include "core/graph/autoparallel_price.hpp"

namespace onedim {

// A node whose layouts no rules of ours give on this mesh, or whose input has no way to get there.
struct StrategyException {
  int node = 0;
  std::string reason;
};

struct PriceDifference {
  int node = 0;
  int slot = -1;  // input slot of the edge; -1: the node itself
  double our_us = 0, file_us = 0;
};

struct AutoParallelCheck {
  std::vector<StrategyException> exceptions;
  std::vector<PriceDifference> differences;
  int compared = 0;            // prices that the file has, sums included
  double most_difference = 0;  // relative, over these
  bool sums_differ = false;    // a sum of the file, though all its parts may agree

  bool is_fine() const { return exceptions.empty() && differences.empty() && !sums_differ; }
};

// Prices further apart than this, relative, differ.
inline constexpr double kSamePrice = 1e-6;

// Layouts are judged by the rules of the graph's registry under the policy `fits`, AutoParallel's;
// repeated nodes once.
AutoParallelCheck check_autoparallel(const ResolvedGraph& resolved,
                                     const AutoParallelSolution& solution,
                                     const AutoParallelPriced& priced);

}  // namespace onedim
