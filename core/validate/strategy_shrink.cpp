#include "core/validate/strategy_shrink.hpp"

#include <algorithm>
#include <numeric>

#include "core/validate/size_variants.hpp"

namespace onedim {
namespace {

constexpr int kRounds = 3;

Mesh with_sizes_of(const Mesh& mesh, Dims sizes) {
  return *Mesh::create(mesh.names(), std::move(sizes));
}

Rule of_replicas(const Rule& rule) {
  Rule replicas;
  replicas.outputs = rule.outputs;
  replicas.inputs = rule.inputs;
  for (std::vector<Placement>* side : {&replicas.outputs, &replicas.inputs}) {
    for (Placement& placement : *side) {
      if (!placement.is_none()) placement = Placement::replicate();
    }
  }
  return replicas;
}

Rule without_strides(Rule rule) {
  for (std::vector<Placement>* side : {&rule.outputs, &rule.inputs}) {
    for (Placement& placement : *side) {
      if (placement.is_shard()) placement = Placement::shard(placement.dim);
    }
  }
  return rule;
}

class Shrinker {
 public:
  Shrinker(FailingStrategy found, const Registry& registry, uint64_t seed, int draws)
      : smallest_(std::move(found)), registry_(registry), seed_(seed) {
    numbers_.resize(static_cast<size_t>(draws));
    std::iota(numbers_.begin(), numbers_.end(), 0);
  }

  FailingStrategy run() {
    if (!fails(smallest_)) return std::move(smallest_);
    for (int round = 0; round < kRounds; ++round) {
      const bool fewer = drop_mesh_dims(), smaller = shrink_mesh(), simpler = simplify(),
                 sizes = shrink_sizes();
      if (!fewer && !smaller && !simpler && !sizes) break;
    }
    return std::move(smallest_);
  }

 private:
  // Then it is the smallest so far.
  bool fails(FailingStrategy candidate) {
    const Result<MeshStrategy> strategy = make_strategy(
        candidate.subject, registry_, candidate.mesh, candidate.rules, candidate.order);
    if (!strategy.ok()) return false;
    Place place = strategy_place(candidate.subject, seed_);
    if (!place.draw(0).status.ok()) return false;
    StrategyVerdict verdict = judge_strategy(place, candidate.mesh, *strategy, numbers_, registry_);
    if (verdict.word != StrategyVerdict::Word::kRefuted) return false;
    candidate.reason = std::move(verdict.reason);
    smallest_ = std::move(candidate);
    return true;
  }

  bool drop_mesh_dims() {
    bool dropped = false;
    for (int mesh_dim = smallest_.mesh.ndim() - 1; mesh_dim >= 0; --mesh_dim) {
      if (smallest_.mesh.ndim() > 1) dropped |= fails(without(mesh_dim));
    }
    return dropped;
  }

  FailingStrategy without(int mesh_dim) const {
    FailingStrategy candidate = smallest_;
    std::vector<std::string> names = candidate.mesh.names();
    Dims sizes = candidate.mesh.sizes();
    names.erase(names.begin() + mesh_dim);
    sizes.erase(sizes.begin() + mesh_dim);
    candidate.mesh = *Mesh::create(std::move(names), std::move(sizes));
    candidate.rules.erase(candidate.rules.begin() + mesh_dim);
    candidate.order.erase(std::find(candidate.order.begin(), candidate.order.end(), mesh_dim));
    for (int64_t& other : candidate.order) other -= other > mesh_dim ? 1 : 0;
    return candidate;
  }

  bool shrink_mesh() {
    bool shrunk = false;
    for (int mesh_dim = 0; mesh_dim < smallest_.mesh.ndim(); ++mesh_dim) {
      if (smallest_.mesh.size(mesh_dim) <= 2) continue;
      FailingStrategy candidate = smallest_;
      Dims sizes = candidate.mesh.sizes();
      sizes[mesh_dim] = 2;
      candidate.mesh = with_sizes_of(candidate.mesh, std::move(sizes));
      shrunk |= fails(std::move(candidate));
    }
    return shrunk;
  }

  // Replicas, left to right, without strides.
  bool simplify() {
    bool simpler = false;
    if (!std::is_sorted(smallest_.order.begin(), smallest_.order.end())) {
      FailingStrategy candidate = smallest_;
      std::sort(candidate.order.begin(), candidate.order.end());
      simpler |= fails(std::move(candidate));
    }
    for (size_t mesh_dim = 0; mesh_dim < smallest_.rules.size(); ++mesh_dim) {
      simpler |= fails_with(mesh_dim, of_replicas(smallest_.rules[mesh_dim]));
      simpler |= fails_with(mesh_dim, without_strides(smallest_.rules[mesh_dim]));
    }
    return simpler;
  }

  bool fails_with(size_t mesh_dim, Rule rule) {
    if (rule.has_same_placements(smallest_.rules[mesh_dim])) return false;
    FailingStrategy candidate = smallest_;
    candidate.rules[mesh_dim] = std::move(rule);
    return fails(std::move(candidate));
  }

  bool shrink_sizes() {
    bool shrunk = false;
    for (const int64_t size : sizes_of(smallest_.subject)) shrunk |= shrink_size(size);
    return shrunk;
  }

  bool shrink_size(int64_t size) {
    for (int64_t smaller = 1; smaller < size; ++smaller) {
      std::optional<Subject> subject = with_sizes(smallest_.subject, {{size, smaller}});
      if (!subject) continue;
      FailingStrategy candidate = smallest_;
      candidate.subject = *std::move(subject);
      if (fails(std::move(candidate))) return true;
    }
    return false;
  }

  FailingStrategy smallest_;
  const Registry& registry_;
  uint64_t seed_;
  std::vector<int> numbers_;
};

}  // namespace

StrategyFinding smallest_finding(FailingStrategy found, const Registry& registry, uint64_t seed,
                                 int draws) {
  const FailingStrategy smallest = Shrinker(std::move(found), registry, seed, draws).run();
  const StrategyText text = format_strategy(smallest.mesh, smallest.rules, smallest.order);
  const Subject& subject = smallest.subject;
  return {
      text.mesh,       text.rules,
      text.order,      format_call(subject.call, subject.domains),
      smallest.reason, strategy_command(*subject.op, subject.call, subject.domains, text, seed)};
}

}  // namespace onedim
