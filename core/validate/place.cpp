#include "core/validate/place.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/layout/partition.hpp"
#include "core/pack/variant.hpp"
#include "core/validate/in_flight.hpp"
#include "core/validate/number_grid.hpp"
#include "core/validate/partial_split.hpp"

namespace onedim {
namespace {

constexpr uint64_t kSplitStream = 0x5011;

// Every round of value kinds meets the variants one further on, so all pairs come up in time.
int split_variant_of(int number, int slot, uint64_t key) {
  const int round = number / kValueKindCount;
  return static_cast<int>(
      (static_cast<uint64_t>(number + round) + key % 8 + (key % 2 == 1 ? 3 * slot : 0)) %
      kSplitVariantCount);
}

// A bare exponent is a scale: it and its parts are exact, so nothing is rounded to its precision.
DType coarsest_float(const Subject& subject, DType output) {
  DType coarsest = output;
  const auto consider = [&](DType dtype) {
    if (dtype == DType::kF8E8M0) return;
    if (epsilon_of(dtype) > epsilon_of(coarsest)) coarsest = dtype;
  };
  for (const OptionalMeta& input : subject.call.inputs) {
    if (input) consider(input->dtype);
  }
  return coarsest;
}

// Integers that a call turns into f32 stay exact there up to 2^24, split by offsets too; in
// narrower floats none but small ones do.
int large_power_of_integers(const Subject& subject) {
  constexpr int kExactInF32 = 13;
  double epsilon = epsilon_of(coarsest_float(subject, DType::kI64));
  for (const OptionalOutput& output : subject.outputs) {
    if (output) epsilon = std::max(epsilon, epsilon_of(output->meta.dtype));
  }
  if (epsilon <= epsilon_of(DType::kF64)) return 64;
  return epsilon <= epsilon_of(DType::kF32) ? kExactInF32 : 0;
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

// Of the bytes in memory, gaps included.
uint64_t fingerprint(const Tensor& tensor) {
  if (tensor.data() == nullptr || tensor.element_count() == 0) return 0;
  const int64_t bytes = tensor.meta().storage_length() * size_of(tensor.dtype());
  uint64_t print = static_cast<uint64_t>(bytes);
  for (int64_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, tensor.data() + at, std::min<int64_t>(8, bytes - at));
    print = (print ^ word) * 0x9e3779b97f4a7c15u;
    print ^= print >> 29;
  }
  return print;
}

// Values that are no number at all may be drawn.
bool may_be_infinite(const Domain& domain) {
  return std::any_of(domain.arguments.begin(), domain.arguments.end(), [](const Value& value) {
    const double* real = value.get_if<double>();
    return real != nullptr && !std::isfinite(*real);
  });
}

}  // namespace

Result<std::vector<std::optional<Truth>>> compute_truths(const Subject& subject,
                                                         const std::vector<Tensor>& inputs) {
  const std::vector<int> written = written_slots(*subject.op, subject.call);
  std::vector<Tensor> copies(inputs);
  std::vector<Tensor*> pointers(copies.size(), nullptr);
  for (size_t slot = 0; slot < copies.size(); ++slot) {
    if (subject.call.inputs[slot]) pointers[slot] = &copies[slot];
  }
  for (const int slot : written) {
    if (subject.call.inputs[slot]) copies[slot] = inputs[slot].clone();
  }
  auto outputs = run_op(*subject.op, subject.call, pointers);
  if (!outputs.ok()) return outputs.status();
  std::vector<std::optional<Truth>> truths;
  for (const std::optional<Tensor>& output : *outputs) {
    truths.push_back(output ? std::optional<Truth>(make_truth(*output)) : std::nullopt);
  }
  return truths;
}

void add_cuts(std::span<const Placement> placements, Cuts& cuts) {
  for (const Placement& placement : placements)
    cuts.push_back(static_cast<int8_t>(placement.is_shard() ? placement.dim : -1));
}

Place::Place(const Subject& subject, int64_t world, uint64_t key, bool wraps)
    : subject_(&subject),
      world_(world),
      wraps_(wraps),
      key_(mix_key(key, static_cast<uint64_t>(world))),
      constants_(attribute_constants(subject.call)),
      varies_(subject.outputs.size(), false),
      first_values_(subject.outputs.size()) {
  for (const double constant : constants_)
    largest_constant_ = std::max(largest_constant_, std::abs(constant));
  const bool nonfinite =
      std::any_of(subject.domains.begin(), subject.domains.end(), is_nonfinite_domain);
  integer_power_ = large_power_of_integers(subject);
  const bool finite_inputs =
      std::none_of(subject.domains.begin(), subject.domains.end(), may_be_infinite);
  for (const OptionalOutput& output : subject.outputs) {
    ErrorModel model;
    if (output)
      model = ErrorModel::of(output->meta.dtype, coarsest_float(subject, output->meta.dtype));
    model.nonfinite = nonfinite;
    model.finite_inputs = finite_inputs;
    models_.push_back(model);
  }
}

// Slots share a kind in some places and differ in others; the first draw of a place is the most
// general one. The others start somewhere else in every place, so that few draws leave none out.
DrawKind Place::kind_of(int number, int slot) const {
  const int stride = 1 + 2 * static_cast<int>(key_ % 4);
  const bool shared = key_ % 4 == 0 || number % kValueKindCount == 0;
  const int turn = (number + (shared ? 0 : slot * stride)) % kValueKindCount;
  const int start = static_cast<int>(key_ / 64 % (kValueKindCount - 1));
  return static_cast<DrawKind>(turn == 0 ? 0 : 1 + (turn - 1 + start) % (kValueKindCount - 1));
}

// The one slot that may have large values in this draw, since products of several leave the range;
// -1 if there is none.
int Place::large_slot(int number) const {
  absl::InlinedVector<int, 8> slots;
  for (int slot = 0; slot < static_cast<int>(subject_->call.inputs.size()); ++slot) {
    if (subject_->call.inputs[slot] && kind_of(number, slot) == DrawKind::kLarge)
      slots.push_back(slot);
  }
  if (slots.empty()) return -1;
  return slots[(key_ / 8 + static_cast<uint64_t>(number / kValueKindCount)) % slots.size()];
}

// Whether an op that multiplies values by each other, or by a constant, may leave the dtype's
// range.
bool Place::may_wrap(DType dtype, DrawKind kind) const {
  if (!is_integral(dtype)) return false;
  if (kind == DrawKind::kLarge) return true;
  const NumberGrid grid = grid_of(dtype);
  if (kind == DrawKind::kConstants && largest_constant_ > grid.wide) return true;
  return largest_constant_ * (grid.wide + grid.offset) > grid.largest;
}

const Draw& Place::draw(int number) {
  if (number >= static_cast<int>(draws_.size())) draws_.resize(number + 1);
  if (draws_[number]) return *draws_[number];
  InFlight::at_world(world_);
  auto draw = std::make_unique<Draw>();
  const uint64_t key = mix_key(key_, number);
  const std::vector<OptionalMeta>& metas = subject_->call.inputs;
  draw->inputs.resize(metas.size());
  const int large = large_slot(number);
  int first = -1;
  for (int slot = 0; slot < static_cast<int>(metas.size()); ++slot) {
    if (!metas[slot]) continue;
    DrawKind kind = kind_of(number, slot);
    if (kind == DrawKind::kLarge && slot != large) kind = DrawKind::kMixed;
    const int power = is_integral(metas[slot]->dtype) ? integer_power_ : 64;
    draw->has_large_values |= kind == DrawKind::kLarge;
    draw->may_wrap |= may_wrap(metas[slot]->dtype, kind);
    draw->inputs[slot] = draw_values(*metas[slot], subject_->domains[slot], kind, constants_,
                                     Random(mix_key(key, slot)), power);
    const bool plain = subject_->domains[slot].name.empty();
    if (kind == DrawKind::kTies && plain && first >= 0) {
      copy_some(draw->inputs[first], draw->inputs[slot], Random(mix_key(key, 1000 + slot)));
    }
    if (plain && first < 0) first = slot;
  }
  for (const Tensor& input : draw->inputs) draw->prints.push_back(fingerprint(input));
  Result<std::vector<std::optional<Truth>>> truths = compute_truths(*subject_, draw->inputs);
  draw->status = truths.status();
  if (truths.ok()) draw->truths = *std::move(truths);
  note_fault(draw->status);
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
  if (is_new) entry->second = {slot, placement, {}, {}};
  return entry->second;
}

std::span<Tensor> Place::locals_of_draw(LocalTensors& locals, int draw) {
  if (draw >= static_cast<int>(locals.draws.size())) locals.draws.resize(draw + 1);
  std::vector<Tensor>& made = locals.draws[draw];
  if (made.empty()) {
    made = make_locals(draw, locals.slot, locals.placement);
    const bool shares = locals.placement.is_replicate();  // storage of the draw
    for (size_t rank = 0; draw == 0 && !shares && rank < made.size(); ++rank)
      locals.prints.push_back(fingerprint(made[rank]));
  }
  return made;
}

void Place::note_fault(const Status& status) {
  if (fault_.ok() && status.code() == absl::StatusCode::kDataLoss) fault_ = status;
}

Status Place::fault() const {
  if (!fault_.ok()) return fault_;
  const auto changed = [&](size_t slot) {
    return absl::DataLossError(fmt::format(
        "{}: the kernel changed its input {}, which it may only read", subject_->op->name(), slot));
  };
  for (const std::unique_ptr<Draw>& draw : draws_) {
    for (size_t slot = 0; draw != nullptr && slot < draw->inputs.size(); ++slot) {
      if (fingerprint(draw->inputs[slot]) != draw->prints[slot]) return changed(slot);
    }
  }
  for (const auto& [key, locals] : locals_) {
    for (size_t rank = 0; rank < locals.prints.size(); ++rank) {
      if (fingerprint(locals.draws[0][rank]) != locals.prints[rank])
        return changed(static_cast<size_t>(locals.slot));
    }
  }
  return absl::OkStatus();
}

RankSet& Place::shared_ranks(const RankPlacements& placements) {
  Cuts cuts;
  add_cuts(placements.inputs, cuts);
  add_cuts(placements.outputs, cuts);
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
  int64_t outer = 1, inner = 1;
  for (int dim = 0; dim < placement.dim; ++dim) outer *= shape[dim];
  for (size_t dim = placement.dim + 1; dim < shape.size(); ++dim) inner *= shape[dim];
  const int64_t length = shape[placement.dim];
  for (int64_t rank = 0; rank < world_; ++rank) {
    const IndexMap map = index_map(shape, Layout{{placement}, {}}, mesh, {rank});
    std::vector<int32_t>& list = elements.emplace_back();
    for (int64_t block = 0; block < outer; ++block) {
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
