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

// make_local_call asks accept_local where the shapes match. Told outputs of another dtype, they
// never do; so the two refusals can be told apart, and accept_local is asked whatever the shapes.
std::vector<OptionalOutput> never_matching(std::vector<OptionalOutput> outputs) {
  for (OptionalOutput& output : outputs) {
    if (output) output->meta.dtype = output->meta.dtype == DType::kBool ? DType::kI8 : DType::kBool;
  }
  return outputs;
}

bool asks_accept(const Op& op) {
  return (op.plain != nullptr ? op.plain->accept_fn : op.accept_fn) != nullptr;
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
  const Op& op = *subject_.op;
  const Mesh mesh = Mesh::line(world_);
  const bool asks = asks_accept(op);
  const std::vector<OptionalOutput> outputs =
      asks ? never_matching(subject_.outputs) : subject_.outputs;
  const std::vector<Layout> input_layouts = layouts_of(placements.inputs),
                            output_layouts = layouts_of(placements.outputs);
  const uint64_t tags[] = {placements.tag};
  for (int64_t rank = 0; rank < world_; ++rank) {
    Result<LocalCall> local = make_local_call(op, subject_.call, outputs, input_layouts,
                                              output_layouts, mesh, {rank}, tags);
    if (!local.ok()) return annotate(local.status(), at_rank(rank, world_));
    if (asks && acceptance_.ok()) {
      acceptance_ = annotate(op.accept_local(local->call, local->outputs, &local->location),
                             at_rank(rank, world_));
    }
    Result<std::unique_ptr<RankCall>> call = RankCall::create(op, *std::move(local));
    if (!call.ok()) return annotate(call.status(), at_rank(rank, world_));
    ranks_.push_back(*std::move(call));
  }
  return absl::OkStatus();
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
