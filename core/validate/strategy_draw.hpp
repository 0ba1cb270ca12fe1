#pragma once
// Strategy draw: random strategies of one call that select would offer: a random rule on every mesh
// dim, declared ones more often than implied ones, plain or strided by a random factor, a random
// cutting order, half of them under the policy `any`, so that shards are uneven and empty too.

#include <optional>

#include "core/validate/mesh_strategy.hpp"
#include "core/validate/random.hpp"

namespace onedim {

class StrategySource {
 public:
  // `subject` outlives this. Fails where the op's rules cannot be had.
  static Result<StrategySource> create(const Subject& subject, const Registry& registry,
                                       Random& random);

  // nullopt where no attempt gave a valid strategy.
  std::optional<MeshStrategy> draw(const Mesh& mesh, Random& random) const;

 private:
  StrategySource(const Subject& subject, RuleChoices choices);
  int draw_rule(Random& random) const;

  const Subject* subject_;
  RuleChoices choices_;
  // Indices of rules: declared without a strided shard, implied, with one. None is empty if any
  // rule is there.
  std::vector<int> declared_, implied_, strided_;
};

}  // namespace onedim
