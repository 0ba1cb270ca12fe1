#pragma once
// RankSet: the local calls of all ranks of a mesh under one layout a slot, and what they computed
// last.

#include <memory>
#include <vector>

#include "core/pack/rank_call.hpp"
#include "core/validate/lanes.hpp"
#include "core/validate/subject.hpp"

namespace onedim {

struct RankPlacements {
  std::span<const Placement> inputs;   // per slot
  std::span<const Placement> outputs;  // per slot: what the local call is told
  uint64_t tag = 0;
};

// The same for a mesh of any number of dims.
struct RankLayouts {
  std::span<const Layout> inputs;
  std::span<const Layout> outputs;
  std::span<const uint64_t> tags;  // per mesh dim
};

class RankSet {
 public:
  RankSet(const Subject& subject, const Mesh& mesh, const RankLayouts& layouts);
  // On a mesh of one dim.
  RankSet(const Subject& subject, int64_t world, const RankPlacements& placements);

  // Why there are no local calls, if there are none.
  const Status& status() const { return status_; }
  // What the op's accept_local says, whatever the outputs' shapes. Where it refuses on some rank,
  // the strategy is not offered and nothing is said of the rule.
  const Status& acceptance() const { return acceptance_; }
  std::span<const std::unique_ptr<RankCall>> ranks() const { return ranks_; }
  // Runs every rank. `locals` per slot, one tensor a rank; empty where absent.
  Status run(std::span<const std::span<Tensor>> locals);
  // What the ranks computed: [output][rank].
  std::span<const std::vector<Lanes>> results() const { return results_; }

 private:
  Status prepare(const RankLayouts& layouts);
  std::string name_of(int64_t rank) const;

  const Subject& subject_;
  Mesh mesh_;
  std::vector<std::unique_ptr<RankCall>> ranks_;
  Status status_;
  Status acceptance_;
  std::vector<std::vector<Lanes>> results_;
  std::vector<Tensor*> inputs_;  // of the rank that runs
};

// What accept_local says of the local calls on a mesh of one dim, in its own words: the first
// refusal. Nothing is allocated. OK also where the op has none, and where there are no local calls.
Status acceptance_of(const Subject& subject, int64_t world, const RankPlacements& placements);

}  // namespace onedim
