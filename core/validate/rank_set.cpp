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

RankSet::RankSet(const Subject& subject, const Mesh& mesh, const RankLayouts& layouts)
    : subject_(subject),
      mesh_(mesh),
      results_(subject.outputs.size()),
      inputs_(subject.call.inputs.size(), nullptr) {
  status_ = prepare(layouts);
  for (std::vector<Lanes>& output : results_) output.resize(ranks_.size());
}

RankSet::RankSet(const Subject& subject, int64_t world, const RankPlacements& placements)
    : RankSet(subject, Mesh::line(world),
              {layouts_of(placements.inputs), layouts_of(placements.outputs),
               std::span(&placements.tag, 1)}) {}

std::string RankSet::name_of(int64_t rank) const {
  if (mesh_.ndim() == 1) return fmt::format("rank {} of {}", rank, mesh_.size(0));
  return fmt::format("the rank at {} of {}", format_dims(mesh_.coordinate_of(rank)),
                     mesh_.format());
}

Status RankSet::prepare(const RankLayouts& layouts) {
  const Op& op = *subject_.op;
  const bool asks = asks_accept(op);
  const std::vector<OptionalOutput> outputs =
      asks ? never_matching(subject_.outputs) : subject_.outputs;
  for (int64_t rank = 0; rank < mesh_.rank_count(); ++rank) {
    Result<LocalCall> local =
        make_local_call(op, subject_.call, outputs, layouts.inputs, layouts.outputs, mesh_,
                        mesh_.coordinate_of(rank), layouts.tags);
    if (!local.ok()) return annotate(local.status(), name_of(rank));
    if (asks && acceptance_.ok()) {
      acceptance_ =
          annotate(op.accept_local(local->call, local->outputs, &local->location), name_of(rank));
    }
    Result<std::unique_ptr<RankCall>> call = RankCall::create(op, *std::move(local));
    if (!call.ok()) return annotate(call.status(), name_of(rank));
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
      return annotate(status, name_of(static_cast<int64_t>(rank)));
    }
    for (size_t output = 0; output < results_.size(); ++output) {
      if (subject_.outputs[output])
        read_lanes(ranks_[rank]->outputs()[output], results_[output][rank]);
    }
  }
  return absl::OkStatus();
}

Status acceptance_of(const Subject& subject, int64_t world, const RankPlacements& placements) {
  if (!asks_accept(*subject.op)) return absl::OkStatus();
  const Mesh mesh = Mesh::line(world);
  const std::vector<OptionalOutput> outputs = never_matching(subject.outputs);
  for (int64_t rank = 0; rank < world; ++rank) {
    const Result<LocalCall> local = make_local_call(
        *subject.op, subject.call, outputs, layouts_of(placements.inputs),
        layouts_of(placements.outputs), mesh, {rank}, std::span(&placements.tag, 1));
    if (!local.ok()) return absl::OkStatus();
    Status status = subject.op->accept_local(local->call, local->outputs, &local->location);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace onedim
