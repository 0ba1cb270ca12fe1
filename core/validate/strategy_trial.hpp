#pragma once
// Strategy trial: the rules of an op, proved on one mesh dim, tried together: random strategies on
// meshes of two and three dims, for a sample and for other sizes of it, even and uneven. What does
// not give the unsharded result is a finding with a command that shows it again, made as small as
// it goes.

#include <string>
#include <vector>

#include "core/validate/op_report.hpp"
#include "core/validate/strategy_judge.hpp"

namespace onedim {

struct StrategyOptions {
  int count = 200;  // on each mesh
  std::vector<Mesh> meshes = default_meshes();
  uint64_t seed = 1;
  int draws = 27;  // of values, from which each strategy takes a few
};

struct StrategyReport {
  int64_t tried = 0;
  int64_t nested = 0;  // of these, with more than replicas on two mesh dims or more
  int64_t judged = 0;
  int64_t wrong = 0;
  std::vector<StrategyFinding> incorrect;  // the first few, shrunk
};

// Fails where the op refuses the sample.
Result<StrategyReport> try_strategies(const Op& op, CallText sample, const Registry& registry,
                                      const StrategyOptions& options);

// One strategy on exactly this call, over `draws` draws. InvalidArgument where it is no strategy of
// the op that select would offer.
Result<StrategyVerdict> judge_one_strategy(const Op& op, CallText call, const StrategyText& text,
                                           const Registry& registry, uint64_t seed, int draws);

}  // namespace onedim
