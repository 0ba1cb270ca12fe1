#pragma once
// Trial: one combination of input placements at one place: the local calls of all ranks, run draw
// by draw, and for each output the set of placements that no draw has refuted. The local calls are
// prepared once. Where the op's local call depends on the placement of its outputs (position-aware,
// sizes among the attributes), a trial has them fixed; else they are all R for the call and every
// candidate is judged from the same results.

#include <cstdint>
#include <string>
#include <vector>

#include "core/validate/place.hpp"
#include "core/validate/rank_call.hpp"

namespace onedim {

using PlacementSet = uint32_t;  // bit i: candidate i of an output

struct TrialInput {
  std::span<const Placement> inputs;   // per slot
  std::span<const Placement> outputs;  // per slot: what the local call is told
  uint64_t tag = 0;
};

// What one trial said of one output's candidates.
struct OutputVerdict {
  PlacementSet holds =
      0;  // of those asked: judged at least once and never refuted, or never judged
  PlacementSet judged = 0;  // of those that hold: judged at least once
};

struct TrialVerdict {
  std::vector<OutputVerdict> outputs;
  Status status;  // why the local call is refused; then nothing holds
  // The first refutation, for messages.
  int draw = -1;
  int output = -1;
  Mismatch mismatch;
};

class Trial {
 public:
  Trial(Place& place, const TrialInput& input);

  // Why there are no local calls, if there are none.
  const Status& status() const { return status_; }
  // True if the op's accept_local is what refused: then the strategy is not offered here, and
  // nothing is said of the rule.
  bool is_not_accepted() const { return not_accepted_; }
  std::span<const std::unique_ptr<RankCall>> ranks() const { return ranks_; }
  // The local inputs of `rank`, null where absent.
  std::vector<Tensor*> rank_inputs(int draw, size_t rank);
  Status run_ranks(int draw);
  // What the ranks computed in the last run: [output][rank].
  std::span<const std::vector<Lanes>> results() const { return results_; }

  // Those `among` the candidates whose shape the local results have on every rank.
  PlacementSet fitting(int output, std::span<const Placement> candidates, PlacementSet among) const;
  // Judges `candidates[o]` (bits of `wanted[o]`) for every output, over `draws` draws. With
  // `stop_early` it ends when an output has no candidate left: then no rule holds.
  TrialVerdict run(std::span<const std::vector<Placement>> candidates,
                   std::span<const PlacementSet> wanted, int draws, bool stop_early);

 private:
  Status prepare(const TrialInput& input);
  bool is_refused_by_accept(std::span<const Layout> inputs, std::span<const Layout> outputs,
                            const Mesh& mesh, int64_t rank, std::span<const uint64_t> tags) const;
  bool fits(int output, const Placement& candidate) const;
  void note_owned(size_t output, std::span<const Placement> candidates, PlacementSet set);
  std::vector<std::span<Tensor>> slot_locals(int draw);
  void judge_draw(int number, std::span<const std::vector<Placement>> candidates,
                  TrialVerdict& verdict);

  Place* place_;
  std::vector<Placement> inputs_;
  std::vector<std::unique_ptr<RankCall>> ranks_;
  Status status_;
  bool not_accepted_ = false;
  std::vector<std::vector<Lanes>> results_;               // [output][rank]
  std::vector<std::vector<const OwnedElements*>> owned_;  // [output][candidate]
};

}  // namespace onedim
