#include "core/validate/place.hpp"

#include <algorithm>
#include <cstring>

#include "core/layout/partition.hpp"
#include "core/pack/variant.hpp"
#include "core/validate/partial_split.hpp"

namespace onedim {
namespace {

constexpr uint64_t kSplitStream = 0x5011;

// Slots share a kind in some places and differ in others; the first draw of a place is the most
// general one.
ValueKind kind_of(int number, int slot, uint64_t key) {
  const int stride = 1 + 2 * static_cast<int>(key % 4);
  const bool shared = key % 4 == 0 || number % kValueKindCount == 0;
  return static_cast<ValueKind>((number + (shared ? 0 : slot * stride)) % kValueKindCount);
}

// Every round of value kinds meets the variants one further on, so all pairs come up in time.
int split_variant_of(int number, int slot, uint64_t key) {
  const int round = number / kValueKindCount;
  return static_cast<int>(
      (static_cast<uint64_t>(number + round) + key % 8 + (key % 2 == 1 ? 3 * slot : 0)) %
      kSplitVariantCount);
}

DType coarsest_float(const Subject& subject, DType output) {
  DType coarsest = output;
  const auto consider = [&](DType dtype) {
    if (epsilon_of(dtype) > epsilon_of(coarsest)) coarsest = dtype;
  };
  for (const OptionalMeta& input : subject.call.inputs) {
    if (input) consider(input->dtype);
  }
  return coarsest;
}

Tensor gather_owned(const Tensor& global, const std::vector<int32_t>& owned, Dims shape) {
  Tensor local = Tensor::zeros(global.dtype(), std::move(shape));
  const int64_t size = size_of(global.dtype());
  std::byte* to = local.data();
  for (const int32_t index : owned) {
    std::memcpy(to, global.data() + index * size, size);
    to += size;
  }
  return local;
}

// A few ties between inputs of one shape: comparisons and selections depend on them.
void copy_some(const Tensor& from, Tensor& to, Random random) {
  if (from.shape() != to.shape() || from.dtype() != to.dtype() || !to.meta().is_contiguous())
    return;
  const int64_t size = size_of(to.dtype());
  for (int64_t i = 0; i < to.element_count(); ++i) {
    if (random.chance(40)) std::memcpy(to.data() + i * size, from.data() + i * size, size);
  }
}

Status run_truth(const Subject& subject, Draw& draw) {
  const std::vector<int> written = written_slots(*subject.op, subject.call);
  std::vector<Tensor> copies(draw.inputs);
  std::vector<Tensor*> pointers(copies.size(), nullptr);
  for (size_t slot = 0; slot < copies.size(); ++slot) {
    if (subject.call.inputs[slot]) pointers[slot] = &copies[slot];
  }
  for (const int slot : written) {
    if (subject.call.inputs[slot]) copies[slot] = draw.inputs[slot].clone();
  }
  auto outputs = run_op(*subject.op, subject.call, pointers);
  if (!outputs.ok()) return outputs.status();
  for (const std::optional<Tensor>& output : *outputs) {
    draw.truths.push_back(output ? std::optional<Truth>(make_truth(*output)) : std::nullopt);
  }
  return absl::OkStatus();
}

}  // namespace

Place::Place(const Subject& subject, int64_t world, uint64_t key, bool wraps)
    : subject_(&subject),
      world_(world),
      wraps_(wraps),
      key_(mix_key(key, static_cast<uint64_t>(world))),
      constants_(attribute_constants(subject.call)),
      varies_(subject.outputs.size(), false),
      first_values_(subject.outputs.size()) {
  const bool nonfinite =
      std::any_of(subject.domains.begin(), subject.domains.end(), is_nonfinite_domain);
  for (const OptionalOutput& output : subject.outputs) {
    ErrorModel model;
    if (output)
      model = ErrorModel::of(output->meta.dtype, coarsest_float(subject, output->meta.dtype));
    model.nonfinite = nonfinite;
    models_.push_back(model);
  }
}

const Draw& Place::draw(int number) {
  if (number >= static_cast<int>(draws_.size())) draws_.resize(number + 1);
  if (draws_[number]) return *draws_[number];
  auto draw = std::make_unique<Draw>();
  const uint64_t key = mix_key(key_, number);
  const std::vector<OptionalMeta>& metas = subject_->call.inputs;
  draw->inputs.resize(metas.size());
  int first = -1;
  for (int slot = 0; slot < static_cast<int>(metas.size()); ++slot) {
    if (!metas[slot]) continue;
    const ValueKind kind = kind_of(number, slot, key_);
    draw->inputs[slot] = draw_values(*metas[slot], subject_->domains[slot], kind, constants_,
                                     Random(mix_key(key, slot)));
    const bool plain = subject_->domains[slot].name.empty();
    if (kind == ValueKind::kTies && plain && first >= 0) {
      copy_some(draw->inputs[first], draw->inputs[slot], Random(mix_key(key, 1000 + slot)));
    }
    if (plain && first < 0) first = slot;
  }
  draw->status = run_truth(*subject_, *draw);
  for (size_t output = 0; output < draw->truths.size(); ++output) {
    if (draw->truths[output]) note_variation(static_cast<int>(output), *draw->truths[output]);
  }
  draws_[number] = std::move(draw);
  return *draws_[number];
}

void Place::note_variation(int output, const Truth& truth) {
  if (varies_[output]) return;
  const auto note = [&](double value) {
    if (!first_values_[output]) first_values_[output] = value;
    if (value != *first_values_[output]) varies_[output] = true;
  };
  for (const double value : truth.lanes.reals) note(value);
  for (const int64_t value : truth.lanes.integers) note(static_cast<double>(value));
}

LocalTensors& Place::locals(int slot, const Placement& placement) {
  auto [entry, is_new] = locals_.try_emplace({slot, placement});
  if (is_new) entry->second = {slot, placement, {}};
  return entry->second;
}

std::span<Tensor> Place::locals_of_draw(LocalTensors& locals, int draw) {
  if (draw >= static_cast<int>(locals.draws.size())) locals.draws.resize(draw + 1);
  if (locals.draws[draw].empty())
    locals.draws[draw] = make_locals(draw, locals.slot, locals.placement);
  return locals.draws[draw];
}

RankSet& Place::shared_ranks(const RankPlacements& placements) {
  std::vector<int> cuts;
  for (const auto& side : {placements.inputs, placements.outputs}) {
    for (const Placement& placement : side)
      cuts.push_back(placement.is_shard() ? placement.dim : -1);
  }
  std::unique_ptr<RankSet>& set = rank_sets_[std::move(cuts)];
  if (set == nullptr) set = std::make_unique<RankSet>(*subject_, world_, placements);
  return *set;
}

std::vector<Tensor> Place::make_locals(int draw_number, int slot, const Placement& placement) {
  const Tensor& global = draw(draw_number).inputs[slot];
  if (placement.is_partial() && is_builtin_partial(placement.partial)) {
    const uint64_t key =
        mix_key(mix_key(mix_key(key_, draw_number), kSplitStream + slot),
                placement.partial.size() * 256u + static_cast<unsigned char>(placement.partial[1]));
    const SplitOptions options{split_variant_of(draw_number, slot, key_), key, wraps_};
    return split_partial(global, placement.partial, world_, subject_->domains[slot], options);
  }
  if (!placement.is_shard()) return std::vector<Tensor>(world_, global);
  std::vector<Tensor> locals;
  const OwnedElements& elements = owned(global.shape(), placement);
  const Mesh mesh = Mesh::line(world_);
  const Tensor dense = global.meta().is_contiguous() ? global : global.clone();
  for (int64_t rank = 0; rank < world_; ++rank) {
    const IndexMap map = index_map(global.shape(), Layout{{placement}, {}}, mesh, {rank});
    locals.push_back(gather_owned(dense, elements[rank], map.local_shape()));
  }
  return locals;
}

const OwnedElements& Place::owned(const Dims& shape, const Placement& placement) {
  auto [entry, is_new] = owned_.try_emplace({shape, placement});
  OwnedElements& elements = entry->second;
  if (!is_new || !placement.is_shard()) return elements;
  const Mesh mesh = Mesh::line(world_);
  int64_t inner = 1;
  for (size_t dim = placement.dim + 1; dim < shape.size(); ++dim) inner *= shape[dim];
  const int64_t length = shape[placement.dim];
  const int64_t outer = length == 0 ? 0 : volume(shape) / (inner * length);
  for (int64_t rank = 0; rank < world_; ++rank) {
    const IndexMap map = index_map(shape, Layout{{placement}, {}}, mesh, {rank});
    std::vector<int32_t>& list = elements.emplace_back();
    for (int64_t block = 0; inner > 0 && block < outer; ++block) {
      for (const Interval& interval : map.dims[placement.dim]) {
        for (int64_t i = interval.begin * inner; i < interval.end * inner; ++i) {
          list.push_back(static_cast<int32_t>(block * length * inner + i));
        }
      }
    }
  }
  return elements;
}

int64_t Place::owned_length(int64_t length, const Placement& shard, size_t rank) const {
  if (shard.kind == Placement::Kind::kStridedShard) {
    Placement first = shard;
    first.dim = 0;
    return index_map({{length}}, Layout{{first}, {}}, Mesh::line(world_),
                     {static_cast<int64_t>(rank)})
        .local_shape()[0];
  }
  const int64_t chunk = (length + world_ - 1) / world_;
  return std::max<int64_t>(0, std::min(length, chunk * (static_cast<int64_t>(rank) + 1)) -
                                  chunk * static_cast<int64_t>(rank));
}

bool is_splittable(const Placement& placement, const Dims& shape) {
  if (!placement.is_shard()) return true;
  return placement.dim < static_cast<int>(shape.size()) && shape[placement.dim] != 1;
}

bool divides(const Placement& placement, const Dims& shape, int64_t world) {
  if (!placement.is_shard()) return true;
  const int64_t pieces =
      placement.kind == Placement::Kind::kStridedShard ? world * placement.split_factor : world;
  return shape[placement.dim] % pieces == 0;
}

}  // namespace onedim
