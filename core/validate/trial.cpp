#include "core/validate/trial.hpp"

#include <bit>

#include "core/validate/in_flight.hpp"

namespace onedim {
Trial::Trial(Place& place, const RankPlacements& placements, Sharing sharing)
    : place_(&place), locals_(placements.inputs.size(), nullptr), spans_(placements.inputs.size()) {
  InFlight::at_world(place.world());
  if (sharing == Sharing::kShared) {
    ranks_ = &place.shared_ranks(placements);
  } else {
    own_ranks_ = std::make_unique<RankSet>(place.subject(), place.world(), placements);
    ranks_ = own_ranks_.get();
  }
  if (!status().ok()) return;
  for (size_t slot = 0; slot < locals_.size(); ++slot) {
    if (place.subject().call.inputs[slot]) {
      locals_[slot] = &place.locals(static_cast<int>(slot), placements.inputs[slot]);
    }
  }
}

bool Trial::fits(int output, const Placement& candidate) const {
  const OptionalOutput& global = place_->subject().outputs[output];
  if (!global || !is_splittable(candidate, global->meta.shape)) return false;
  for (size_t rank = 0; rank < ranks().size(); ++rank) {
    const OptionalOutput& local = ranks()[rank]->local().outputs[output];
    if (!local || local->meta.dtype != global->meta.dtype) return false;
    const Dims& shape = local->meta.shape;
    if (shape.size() != global->meta.shape.size()) return false;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const bool is_cut = candidate.is_shard() && candidate.dim == static_cast<int>(dim);
      const int64_t length = global->meta.shape[dim];
      if (shape[dim] != (is_cut ? place_->owned_length(length, candidate, rank) : length))
        return false;
    }
  }
  return true;
}

PlacementSet Trial::fitting(int output, std::span<const Placement> candidates,
                            PlacementSet among) const {
  PlacementSet set = 0;
  for (PlacementSet left = status().ok() ? among : 0; left != 0; left &= left - 1) {
    const int bit = std::countr_zero(left);
    if (fits(output, candidates[bit])) set |= PlacementSet{1} << bit;
  }
  return set;
}

void Trial::note_owned(size_t output, std::span<const Placement> candidates, PlacementSet set) {
  static const OwnedElements kEverything;
  owned_.resize(outputs_count());
  owned_[output].assign(candidates.size(), &kEverything);
  for (; set != 0; set &= set - 1) {
    const int bit = std::countr_zero(set);
    if (!candidates[bit].is_shard()) continue;
    owned_[output][bit] =
        &place_->owned(place_->subject().outputs[output]->meta.shape, candidates[bit]);
  }
}

void Trial::take_locals(int draw) {
  for (size_t slot = 0; slot < locals_.size(); ++slot) {
    if (locals_[slot] != nullptr) spans_[slot] = place_->locals_of_draw(*locals_[slot], draw);
  }
}

std::vector<Tensor*> Trial::rank_inputs(int draw, size_t rank) {
  take_locals(draw);
  std::vector<Tensor*> pointers;
  for (const std::span<Tensor> locals : spans_)
    pointers.push_back(locals.empty() ? nullptr : &locals[rank]);
  return pointers;
}

Status Trial::run_ranks(int draw) {
  take_locals(draw);
  Status status = ranks_->run(spans_);
  place_->note_fault(status);
  return status;
}

// Judged right before: the ranks hold the results of this draw.
bool Trial::wraps(const Draw& draw, size_t output) {
  if (!draw.may_wrap) return false;
  if (wrap_check_ == nullptr) {
    const auto layouts = [](const std::vector<SlotLocation>& slots) {
      std::vector<Layout> list;
      for (const SlotLocation& slot : slots) list.emplace_back().placements = slot.placements;
      return list;
    };
    const Location& location = ranks()[0]->local().location;
    const std::vector<Layout> inputs = layouts(location.inputs),
                              outputs = layouts(location.outputs);
    wrap_check_ = std::make_unique<WrapCheck>(place_->subject(), Mesh::line(place_->world()),
                                              RankLayouts{inputs, outputs, location.tags});
  }
  return wrap_check_->wraps(static_cast<int>(output), draw, spans_);
}

void Trial::judge_draw(int number, std::span<const std::vector<Placement>> candidates,
                       TrialVerdict& verdict) {
  const Draw& draw = place_->draw(number);
  for (size_t output = 0; output < outputs_count(); ++output) {
    OutputVerdict& set = verdict.outputs[output];
    for (PlacementSet left = set.holds; left != 0; left &= left - 1) {
      const int bit = std::countr_zero(left);
      const Placement& candidate = candidates[output][bit];
      Mismatch mismatch;
      const Judgement judgement =
          judge(candidate, *draw.truths[output], *owned_[output][bit], ranks_->results()[output],
                place_->error_model(static_cast<int>(output)), &mismatch);
      if (judgement == Judgement::kHolds) set.judged |= PlacementSet{1} << bit;
      if (judgement != Judgement::kFails || wraps(draw, output)) continue;
      set.holds &= ~(PlacementSet{1} << bit);
      if (verdict.draw < 0)
        verdict.draw = number, verdict.output = static_cast<int>(output),
        verdict.mismatch = mismatch;
    }
    set.judged &= set.holds;
  }
}

TrialVerdict Trial::run(std::span<const std::vector<Placement>> candidates,
                        std::span<const PlacementSet> wanted, int draws, bool stop_early) {
  TrialVerdict verdict;
  verdict.outputs.resize(outputs_count());
  verdict.status = status();
  if (!status().ok()) return verdict;
  verdict.is_offered = acceptance().ok();
  if (!verdict.is_offered) return verdict;
  for (size_t output = 0; output < outputs_count(); ++output) {
    verdict.outputs[output].holds =
        fitting(static_cast<int>(output), candidates[output], wanted[output]);
    note_owned(output, candidates[output], verdict.outputs[output].holds);
  }
  for (int number = 0; number < draws; ++number) {
    bool any = false, all = true;
    for (size_t output = 0; output < outputs_count(); ++output) {
      if (!place_->subject().outputs[output]) continue;
      any |= verdict.outputs[output].holds != 0;
      all &= verdict.outputs[output].holds != 0;
    }
    if (stop_early ? !all : !any) break;
    if (!place_->draw(number).status.ok()) continue;
    if (Status status = run_ranks(number); !status.ok()) {
      for (OutputVerdict& output : verdict.outputs) output = {};
      verdict.status = status;
      verdict.draw = number;
      break;
    }
    judge_draw(number, candidates, verdict);
  }
  return verdict;
}

}  // namespace onedim
