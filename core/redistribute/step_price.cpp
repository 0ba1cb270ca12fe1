#include "core/redistribute/step_price.hpp"

#include <algorithm>
#include <cmath>

namespace onedim {
namespace {

constexpr int64_t kMostRanksWalked = 4096;
constexpr uint32_t kCopy = 7;  // beside the five collectives

int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? int64_t{1} << 62 : product;
}

// Whether the kernel's side of `dim` is one piece of memory.
bool is_whole(int dim, int outermost, const StateSizes& sizes) {
  return dim >= 0 && is_outermost(dim, outermost, sizes.units);
}

}  // namespace

int64_t to_ps(double us) {
  return us < static_cast<double>(kImpossible) / 1e6 ? std::llround(us * 1e6) : kImpossible;
}

void StepPricer::start(const CostModel& model, const StateGraph& graph,
                       std::span<const GroupMember> group, bool may_view) {
  model_ = &model;
  may_view_ = may_view;
  group_ = group;
  ++round_;
  const Alphabet& alphabet = graph.alphabet();
  own_kinds_ = 0;
  for (int s = 0; alphabet.is_partial(s); ++s) {
    if (!is_builtin_partial(alphabet.symbol(s).partial)) own_kinds_ |= uint32_t{1} << s;
  }
  is_empty_ = std::all_of(group.begin(), group.end(),
                          [](const GroupMember& member) { return volume(member.shape) == 0; });
  dim_sets_.start(model.mesh(), alphabet.mesh_dims());
}

StepPricer::Remembered& StepPricer::slot(uint32_t what, int64_t bytes) {
  const uint64_t hash =
      (static_cast<uint64_t>(bytes) * 0x9e3779b97f4a7c15 + what) * 0xff51afd7ed558ccd;
  return remembered_[hash >> 53 & (kRemembered - 1)];
}

int64_t StepPricer::collective_ps(Collective collective, uint32_t mesh_dims, int64_t bytes) {
  const uint32_t what = static_cast<uint32_t>(collective) << 8 | mesh_dims;
  Remembered& known = slot(what, bytes);
  if (known.round == round_ && known.what == what && known.bytes == bytes) return known.ps;
  known = {what, round_, bytes,
           to_ps(model_->collective_us(collective, dim_sets_.on_mesh(mesh_dims), bytes))};
  return known.ps;
}

int64_t StepPricer::copy_ps(int64_t bytes) {
  if (bytes == 0) return 0;
  Remembered& known = slot(kCopy << 8, bytes);
  if (known.round == round_ && known.what == kCopy << 8 && known.bytes == bytes) return known.ps;
  known = {kCopy << 8, round_, bytes, to_ps(model_->copy_us(bytes))};
  return known.ps;
}

bool StepPricer::has_own_combine(const StateStep& step, StateCode from) const {
  const int symbol = Alphabet::symbol_of(from, lowest(step.mesh_dims));
  return (own_kinds_ >> symbol & 1) != 0;
}

StepFloor StepPricer::floor(const StateStep& step, StateCode code, const StateSizes& from,
                            bool may_rename) {
  if (is_empty_) return {};
  const int64_t bytes = from.bytes, ranks = group_size(step.mesh_dims);
  const auto always = [](int64_t ps) { return StepFloor{ps, ps}; };
  const auto with_copy = [&](int64_t ps) { return StepFloor{ps, ps + copy_ps(2 * bytes)}; };
  switch (step.kind) {
    case StepKind::kAllGather:
      return always(collective_ps(Collective::kAllGather, step.mesh_dims, multiply(ranks, bytes)));
    case StepKind::kReduceScatter:
      return with_copy(collective_ps(
          has_own_combine(step, code) ? Collective::kAllToAll : Collective::kReduceScatter,
          step.mesh_dims, bytes));
    case StepKind::kAllReduce:
      if (has_own_combine(step, code))
        return always(
            collective_ps(Collective::kAllGather, step.mesh_dims, multiply(ranks, bytes)));
      return always(collective_ps(Collective::kAllReduce, step.mesh_dims, bytes));
    case StepKind::kAllToAll:
      if (may_rename) return {};
      return with_copy(collective_ps(Collective::kAllToAll, step.mesh_dims, bytes));
    case StepKind::kSlice:
      return {0, copy_ps(2 * (bytes / ranks))};
    case StepKind::kFillPartial:
    case StepKind::kShardToPartial:
      return always(copy_ps(bytes));
    case StepKind::kScale:
      return always(copy_ps(2 * bytes));
    case StepKind::kAlias:
    case StepKind::kReorder:
      break;
  }
  return {};
}

StepPrice StepPricer::gather(const StateStep& step, const StepContext& context) {
  const StateSizes &from = *context.from_sizes, &to = *context.to_sizes;
  const int64_t ranks = group_size(step.mesh_dims);
  const int64_t gathered = multiply(ranks, from.bytes);
  const bool is_padded = (from.uneven & step.mesh_dims) != 0;
  const bool is_unpacked =
      is_padded || !context.keeps_memory() || !is_whole(step.unpack_dim, context.to_outermost, to);
  StepPrice price;
  price.bytes = gathered - from.bytes;
  price.pack_bytes = is_padded ? from.bytes : 0;
  price.unpack_bytes = is_unpacked ? gathered : 0;
  price.padding_bytes = is_padded ? gathered - to.bytes : 0;
  price.ps = collective_ps(Collective::kAllGather, step.mesh_dims, gathered) +
             copy_ps(2 * price.pack_bytes) + copy_ps(is_unpacked ? 2 * to.bytes : 0);
  return price;
}

StepPrice StepPricer::reduce_scatter(const StateStep& step, const StepContext& context) {
  const StateSizes &from = *context.from_sizes, &to = *context.to_sizes;
  const int64_t ranks = group_size(step.mesh_dims);
  const int64_t scattered = multiply(ranks, to.bytes);
  const bool is_padded = (to.uneven & step.mesh_dims) != 0;
  const bool is_packed = is_padded || !context.keeps_memory() ||
                         !is_whole(step.pack_dim, context.from_outermost, from);
  StepPrice price;
  price.bytes = scattered - to.bytes;
  price.pack_bytes = is_packed ? scattered : 0;
  price.padding_bytes = is_padded ? scattered - from.bytes : 0;
  price.ps = copy_ps(is_packed ? from.bytes + scattered : 0);
  if (has_own_combine(step, context.graph->code(context.from))) {
    price.unpack_bytes = scattered;
    price.ps += collective_ps(Collective::kAllToAll, step.mesh_dims, scattered) +
                copy_ps(scattered + to.bytes);
  } else {
    price.ps += collective_ps(Collective::kReduceScatter, step.mesh_dims, scattered);
  }
  return price;
}

StepPrice StepPricer::all_reduce(const StateStep& step, const StepContext& context) {
  const int64_t bytes = context.from_sizes->bytes, ranks = group_size(step.mesh_dims);
  StepPrice price;
  if (has_own_combine(step, context.graph->code(context.from))) {
    const int64_t gathered = multiply(ranks, bytes);
    price.bytes = gathered - bytes;
    price.unpack_bytes = gathered;
    price.ps =
        collective_ps(Collective::kAllGather, step.mesh_dims, gathered) + copy_ps(gathered + bytes);
  } else {
    price.bytes = 2 * multiply(ranks - 1, bytes / ranks + (bytes % ranks != 0));
    price.ps = collective_ps(Collective::kAllReduce, step.mesh_dims, bytes);
  }
  return price;
}

StepPrice StepPricer::exchange(const StateStep& step, const StepContext& context) {
  const StateSizes &from = *context.from_sizes, &to = *context.to_sizes;
  const int64_t ranks = group_size(step.mesh_dims);
  StepPrice price;
  const bool is_even = ((from.uneven | to.uneven) & step.mesh_dims) == 0;
  if (is_even && step.is_split) {
    price.bytes = to.bytes - to.bytes / ranks;
  } else if (is_even && step.share != -1) {
    const MissingShare share = context.graph->missing_share(context.from, step);
    price.bytes = to.bytes / share.whole * share.missing +
                  to.bytes % share.whole * share.missing / share.whole;
    if (price.bytes == 0) return price;
  } else {
    const Alphabet& alphabet = context.graph->alphabet();
    price.bytes = most_missing_bytes(group_, alphabet.cuts(context.graph->code(context.from)),
                                     alphabet.cuts(context.graph->code(step.to)), kMostRanksWalked);
    if (price.bytes == 0) return price;
  }
  if (!is_whole(step.pack_dim, context.from_outermost, from)) price.pack_bytes = from.bytes;
  if (!is_whole(step.unpack_dim, context.to_outermost, to)) price.unpack_bytes = to.bytes;
  if (price.pack_bytes == 0 && price.unpack_bytes == 0 && !context.keeps_memory())
    (from.bytes < to.bytes ? price.pack_bytes : price.unpack_bytes) =
        std::min(from.bytes, to.bytes);
  // What an even all-to-all would have to hold to move as much.
  const int64_t wire = multiply(price.bytes, ranks);
  const int64_t moved = wire / (ranks - 1) + (wire % (ranks - 1) != 0);
  price.ps = collective_ps(Collective::kAllToAll, step.mesh_dims,
                           std::max({from.bytes, to.bytes, moved})) +
             copy_ps(2 * price.pack_bytes) + copy_ps(2 * price.unpack_bytes);
  return price;
}

StepPrice StepPricer::price(const StateStep& step, const StepContext& context) {
  if (is_empty_) return {};
  const int64_t from = context.from_sizes->bytes, to = context.to_sizes->bytes;
  StepPrice price;
  bool is_new = true;  // the target has storage of its own
  switch (step.kind) {
    case StepKind::kAllGather:
      price = gather(step, context);
      break;
    case StepKind::kReduceScatter:
      price = reduce_scatter(step, context);
      break;
    case StepKind::kAllReduce:
      price = all_reduce(step, context);
      break;
    case StepKind::kAllToAll:
      price = exchange(step, context);
      is_new = price.bytes != 0;
      break;
    case StepKind::kSlice:
      is_new = !may_view_ || !context.keeps_memory() ||
               !is_whole(step.pack_dim, context.from_outermost, *context.from_sizes);
      price.ps = is_new ? copy_ps(2 * to) : 0;
      break;
    case StepKind::kFillPartial:
      price.ps = copy_ps(from);
      break;
    case StepKind::kAlias:
      is_new = false;
      break;
    case StepKind::kScale:
      price.ps = copy_ps(2 * from);
      break;
    case StepKind::kShardToPartial:
      price.ps = copy_ps(from + to);
      break;
    case StepKind::kReorder:
      is_new = !context.keeps_memory();
      price.ps = is_new ? copy_ps(2 * from) : 0;
      break;
  }
  const bool copies = is_new && (price.pack_bytes != 0 || price.unpack_bytes != 0 ||
                                 step.kind == StepKind::kSlice || step.kind == StepKind::kReorder);
  if (!copies && !context.keeps_memory()) price.ps = kImpossible;
  price.is_collective = is_collective(step.kind) && is_new;
  price.memory_bytes = from + (is_new ? to : 0) + price.pack_bytes + price.unpack_bytes;
  price.from_bytes = from;
  price.to_bytes = to;
  price.is_view = !is_new;
  return price;
}

}  // namespace onedim
