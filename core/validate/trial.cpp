#include "core/validate/trial.hpp"

#include <bit>

namespace onedim {
namespace {

std::vector<Layout> layouts_of(std::span<const Placement> placements) {
  std::vector<Layout> layouts(placements.size());
  for (size_t slot = 0; slot < placements.size(); ++slot) {
    layouts[slot].placements.push_back(placements[slot]);
  }
  return layouts;
}

std::string at_rank(int64_t rank, int64_t world) {
  return fmt::format("rank {} of {}", rank, world);
}

}  // namespace

Trial::Trial(Place& place, const TrialInput& input)
    : place_(&place), inputs_(input.inputs.begin(), input.inputs.end()) {
  status_ = prepare(input);
  results_.resize(place.subject().outputs.size());
}

Status Trial::prepare(const TrialInput& input) {
  const Subject& subject = place_->subject();
  const Mesh mesh = Mesh::line(place_->world());
  const std::vector<Layout> inputs = layouts_of(input.inputs), outputs = layouts_of(input.outputs);
  const uint64_t tags[] = {input.tag};
  for (int64_t rank = 0; rank < place_->world(); ++rank) {
    Result<LocalCall> local = make_local_call(*subject.op, subject.call, subject.outputs, inputs,
                                              outputs, mesh, {rank}, tags);
    if (!local.ok()) {
      not_accepted_ = is_refused_by_accept(inputs, outputs, mesh, rank, tags);
      return annotate(local.status(), at_rank(rank, place_->world()));
    }
    Result<std::unique_ptr<RankCall>> call = RankCall::create(*subject.op, *std::move(local));
    if (!call.ok()) return annotate(call.status(), at_rank(rank, place_->world()));
    ranks_.push_back(*std::move(call));
  }
  return absl::OkStatus();
}

// accept_local is only asked where the shapes match, so a call told other outputs gets past it.
bool Trial::is_refused_by_accept(std::span<const Layout> inputs, std::span<const Layout> outputs,
                                 const Mesh& mesh, int64_t rank,
                                 std::span<const uint64_t> tags) const {
  const Subject& subject = place_->subject();
  const Op& plain = subject.op->plain != nullptr ? *subject.op->plain : *subject.op;
  if (plain.accept_fn == nullptr) return false;
  const std::vector<Layout> replicated(outputs.size(), Layout::replicated(1));
  return make_local_call(*subject.op, subject.call, subject.outputs, inputs, replicated, mesh,
                         {rank}, tags)
      .ok();
}

bool Trial::fits(int output, const Placement& candidate) const {
  const OptionalOutput& global = place_->subject().outputs[output];
  if (!global || !is_splittable(candidate, global->meta.shape)) return false;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    const OptionalOutput& local = ranks_[rank]->local().outputs[output];
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
  for (PlacementSet left = status_.ok() ? among : 0; left != 0; left &= left - 1) {
    const int bit = std::countr_zero(left);
    if (fits(output, candidates[bit])) set |= PlacementSet{1} << bit;
  }
  return set;
}

void Trial::note_owned(size_t output, std::span<const Placement> candidates, PlacementSet set) {
  owned_.resize(results_.size());
  owned_[output].assign(candidates.size(), nullptr);
  for (; set != 0; set &= set - 1) {
    const int bit = std::countr_zero(set);
    owned_[output][bit] =
        &place_->owned(place_->subject().outputs[output]->meta.shape, candidates[bit]);
  }
}

std::vector<std::span<Tensor>> Trial::slot_locals(int draw) {
  std::vector<std::span<Tensor>> locals(inputs_.size());
  for (size_t slot = 0; slot < inputs_.size(); ++slot) {
    if (!place_->subject().call.inputs[slot]) continue;
    locals[slot] = place_->locals(draw, static_cast<int>(slot), inputs_[slot]);
  }
  return locals;
}

std::vector<Tensor*> Trial::rank_inputs(int draw, size_t rank) {
  std::vector<Tensor*> pointers;
  for (const std::span<Tensor> locals : slot_locals(draw)) {
    pointers.push_back(locals.empty() ? nullptr : &locals[rank]);
  }
  return pointers;
}

Status Trial::run_ranks(int draw) {
  const std::vector<std::span<Tensor>> locals = slot_locals(draw);
  std::vector<Tensor*> inputs(locals.size(), nullptr);
  for (std::vector<Lanes>& output : results_) output.resize(ranks_.size());
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    for (size_t slot = 0; slot < locals.size(); ++slot) {
      if (!locals[slot].empty()) inputs[slot] = &locals[slot][rank];
    }
    if (Status status = ranks_[rank]->run(inputs); !status.ok()) {
      return annotate(status, at_rank(static_cast<int64_t>(rank), place_->world()));
    }
    for (size_t output = 0; output < results_.size(); ++output) {
      if (place_->subject().outputs[output]) {
        read_lanes(ranks_[rank]->outputs()[output], results_[output][rank]);
      }
    }
  }
  return absl::OkStatus();
}

void Trial::judge_draw(int number, std::span<const std::vector<Placement>> candidates,
                       TrialVerdict& verdict) {
  const Draw& draw = place_->draw(number);
  for (size_t output = 0; output < results_.size(); ++output) {
    OutputVerdict& set = verdict.outputs[output];
    for (PlacementSet left = set.holds; left != 0; left &= left - 1) {
      const int bit = std::countr_zero(left);
      const Placement& candidate = candidates[output][bit];
      Mismatch mismatch;
      const Judgement judgement =
          judge(candidate, *draw.truths[output], *owned_[output][bit], results_[output],
                place_->error_model(static_cast<int>(output)), &mismatch);
      if (judgement == Judgement::kHolds) set.judged |= PlacementSet{1} << bit;
      if (judgement != Judgement::kFails) continue;
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
  verdict.outputs.resize(results_.size());
  verdict.status = status_;
  if (!status_.ok()) return verdict;
  for (size_t output = 0; output < results_.size(); ++output) {
    verdict.outputs[output].holds =
        fitting(static_cast<int>(output), candidates[output], wanted[output]);
    note_owned(output, candidates[output], verdict.outputs[output].holds);
  }
  for (int number = 0; number < draws; ++number) {
    bool any = false, all = true;
    for (size_t output = 0; output < results_.size(); ++output) {
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
