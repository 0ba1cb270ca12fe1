#pragma once
// Strategy shrink: the smallest strategy and call that still fail: fewer mesh dims, mesh dims of
// two, left to right, replicas, plain shards, sizes as small as they go. Each step must be a
// strategy of the op that select would offer, so that what is shown is a mistake of the op's, or of
// select's, and not of the shrinking.

#include "core/validate/op_report.hpp"
#include "core/validate/strategy_judge.hpp"

namespace onedim {

struct FailingStrategy {
  Subject subject;
  Mesh mesh;
  std::vector<Rule> rules;
  Dims order;
  std::string reason;
};

// As found, where it does not fail again by itself.
StrategyFinding smallest_finding(FailingStrategy found, const Registry& registry, uint64_t seed,
                                 int draws);

}  // namespace onedim
