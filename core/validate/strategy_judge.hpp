#pragma once
// Strategy judge: whether a strategy that select would offer gives the unsharded result. The inputs
// of each draw are split over all ranks, every rank runs its local call, and every output is joined
// by its layout and compared, joint partials of packs merged over all mesh dims that they span.
// What cannot be judged is what the judge of single rules leaves out: truths and joins that are
// infinite, integers that wrapped around.

#include <string>

#include "core/validate/mesh_strategy.hpp"
#include "core/validate/place.hpp"

namespace onedim {

struct StrategyVerdict {
  enum class Word { kHolds, kRefuted, kNotJudged };
  Word word = Word::kNotJudged;
  std::string reason;  // the counter-example, or why it was not judged
};

// A place whose draws depend on the seed and on what is called only, so that a command which makes
// the same call draws the same values. `subject` outlives it.
Place strategy_place(const Subject& subject, uint64_t seed);

// `draws` are numbers of draws of `place`.
StrategyVerdict judge_strategy(Place& place, const Mesh& mesh, const MeshStrategy& strategy,
                               std::span<const int> draws, const Registry& registry);

}  // namespace onedim
