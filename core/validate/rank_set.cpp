#include "core/validate/rank_set.hpp"

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

RankSet::RankSet(const Subject& subject, int64_t world, const RankPlacements& placements)
    : subject_(subject),
      world_(world),
      results_(subject.outputs.size()),
      inputs_(subject.call.inputs.size(), nullptr) {
  status_ = prepare(placements);
  for (std::vector<Lanes>& output : results_) output.resize(ranks_.size());
}

Status RankSet::prepare(const RankPlacements& placements) {
  const Mesh mesh = Mesh::line(world_);
  const std::vector<Layout> inputs = layouts_of(placements.inputs),
                            outputs = layouts_of(placements.outputs);
  const uint64_t tags[] = {placements.tag};
  for (int64_t rank = 0; rank < world_; ++rank) {
    Result<LocalCall> local = make_local_call(*subject_.op, subject_.call, subject_.outputs, inputs,
                                              outputs, mesh, {rank}, tags);
    if (!local.ok()) {
      not_accepted_ = is_refused_by_accept(inputs, outputs, mesh, rank, tags);
      return annotate(local.status(), at_rank(rank, world_));
    }
    Result<std::unique_ptr<RankCall>> call = RankCall::create(*subject_.op, *std::move(local));
    if (!call.ok()) return annotate(call.status(), at_rank(rank, world_));
    ranks_.push_back(*std::move(call));
  }
  return absl::OkStatus();
}

// accept_local is only asked where the shapes match, so a call told other outputs gets past it.
bool RankSet::is_refused_by_accept(std::span<const Layout> inputs, std::span<const Layout> outputs,
                                   const Mesh& mesh, int64_t rank,
                                   std::span<const uint64_t> tags) const {
  const Op& plain = subject_.op->plain != nullptr ? *subject_.op->plain : *subject_.op;
  if (plain.accept_fn == nullptr) return false;
  const std::vector<Layout> replicated(outputs.size(), Layout::replicated(1));
  return make_local_call(*subject_.op, subject_.call, subject_.outputs, inputs, replicated, mesh,
                         {rank}, tags)
      .ok();
}

Status RankSet::run(std::span<const std::span<Tensor>> locals) {
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    for (size_t slot = 0; slot < locals.size(); ++slot) {
      inputs_[slot] = locals[slot].empty() ? nullptr : &locals[slot][rank];
    }
    if (Status status = ranks_[rank]->run(inputs_); !status.ok()) {
      return annotate(status, at_rank(static_cast<int64_t>(rank), world_));
    }
    for (size_t output = 0; output < results_.size(); ++output) {
      if (subject_.outputs[output])
        read_lanes(ranks_[rank]->outputs()[output], results_[output][rank]);
    }
  }
  return absl::OkStatus();
}

}  // namespace onedim
