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
#include "core/validate/wrap_check.hpp"

namespace onedim {

using PlacementSet = uint32_t;  // bit i: candidate i of an output

// What one trial said of one output's candidates.
struct OutputVerdict {
  PlacementSet holds = 0;   // of those asked: never refuted, if judged at all
  PlacementSet judged = 0;  // of those that hold: judged at least once
};

struct TrialVerdict {
  std::vector<OutputVerdict> outputs;
  Status status;           // why the local call is refused; then nothing holds
  bool is_offered = true;  // false: accept_local refuses, so nothing is judged
  // The first refutation, for messages.
  int draw = -1;
  int output = -1;
  Mismatch mismatch;
};

// Whether the local calls may be those of another trial that cuts the tensors alike: only for ops
// whose calls do not depend on more, and not for tags.
enum class Sharing { kOwn, kShared };

class Trial {
 public:
  Trial(Place& place, const RankPlacements& placements, Sharing sharing = Sharing::kOwn);

  const Status& status() const { return ranks_->status(); }
  // What accept_local says: where it refuses, the strategy is not offered.
  const Status& acceptance() const { return ranks_->acceptance(); }
  std::span<const std::unique_ptr<RankCall>> ranks() const { return ranks_->ranks(); }
  // The local inputs of `rank`, null where absent.
  std::vector<Tensor*> rank_inputs(int draw, size_t rank);
  Status run_ranks(int draw);

  // Those `among` the candidates whose shape the local results have on every rank.
  PlacementSet fitting(int output, std::span<const Placement> candidates, PlacementSet among) const;
  // Judges `candidates[o]` (bits of `wanted[o]`) for every output, over `draws` draws. With
  // `stop_early` it ends when an output has no candidate left: then no rule holds.
  TrialVerdict run(std::span<const std::vector<Placement>> candidates,
                   std::span<const PlacementSet> wanted, int draws, bool stop_early);

 private:
  size_t outputs_count() const { return place_->subject().outputs.size(); }
  bool fits(int output, const Placement& candidate) const;
  void note_owned(size_t output, std::span<const Placement> candidates, PlacementSet set);
  void take_locals(int draw);
  void judge_draw(int number, std::span<const std::vector<Placement>> candidates,
                  TrialVerdict& verdict);
  bool wraps(const Draw& draw, size_t output);

  Place* place_;
  RankSet* ranks_ = nullptr;
  std::unique_ptr<RankSet> own_ranks_;
  std::vector<LocalTensors*> locals_;                     // per slot, null where absent
  std::vector<std::span<Tensor>> spans_;                  // of the draw that runs
  std::vector<std::vector<const OwnedElements*>> owned_;  // [output][candidate]
  std::unique_ptr<WrapCheck> wrap_check_;                 // made when first needed
};

}  // namespace onedim
