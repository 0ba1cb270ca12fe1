#include <algorithm>
#include <cstring>

#include "core/layout/memory_order.hpp"
#include "core/redistribute/rank_step.hpp"
#include "core/redistribute/shared_part.hpp"

namespace onedim {
namespace {

Tensor flat_view(const Tensor& dense) {
  return dense.view(TensorMeta::contiguous(dense.dtype(), {dense.element_count()}), 0);
}

void fill_with_zeros(Tensor& tensor) {
  std::memset(tensor.data(), 0, static_cast<size_t>(tensor.meta().bytes()));
}

int64_t most_of(std::span<const IndexMap> maps) {
  int64_t most = 0;
  for (const IndexMap& map : maps) most = std::max(most, count_of(map));
  return most;
}

}  // namespace

// Elements travel in the order of the side that does not copy, of the source where neither does.
int RankStep::wire_outermost() const {
  return step_.pack_bytes == 0 ? step_.from_outermost : step_.to_outermost;
}

Tensor RankStep::make_flat(DType dtype, int64_t count, BufferUse use) {
  Tensor buffer = allocator_.make(TensorMeta::contiguous(dtype, {count}), use);
  if (use != BufferUse::kTarget) buffers_.push_back(buffer);
  return buffer;
}

CollectiveCall RankStep::make_call(Collective kind) const {
  CollectiveCall call;
  call.kind = kind;
  call.mesh_dims = step_.mesh_dims;
  call.subject = setting_.subject;
  call.step = &step_;
  return call;
}

// Where the pieces of `received.maps` go: one behind the other in a buffer, each padded to
// `padded` elements if that is not 0, or straight into the target.
Status RankStep::place_received(const Tensor& target, const IndexMap& there, int64_t padded,
                                Received& received) const {
  const bool unpacks = step_.unpack_bytes != 0, is_gather = step_.kind == StepKind::kAllGather;
  Status memory;
  int64_t total = 0, length = 0;
  for (const IndexMap& map : received.maps) {
    const Dims strides = strides_with_outermost(map.local_shape(), received.outermost);
    const SharedPart part = find_shared(map, strides, there, target.strides());
    const bool is_piece = part.count == 0 || (part.in_to.is_filled_by(part.count) &&
                                              (!is_gather || part.in_to.begin == total));
    if (!unpacks && !is_piece && memory.ok())
      memory = wrong("what it receives is not one piece of memory, and it does not unpack");
    const int64_t count = padded == 0 ? count_of(map) : padded;
    received.pieces.push_back({unpacks ? length : part.in_to.begin, count});
    total += part.count;
    length += count;
  }
  if (total == target.element_count()) return memory;
  return wrong(
      fmt::format("the group holds {} elements of a part of {}", total, target.element_count()));
}

void RankStep::receive(size_t tensor, Received received, Tensor target, CollectiveCall call) {
  call.receives = received.pieces;
  const bool is_buffered = step_.unpack_bytes != 0 || merges_ != nullptr;
  if (is_buffered) {
    const Piece& last = received.pieces.back();
    received.buffer = make_flat(target.dtype(), last.offset + last.count, BufferUse::kUnpack);
    call.receive = received.buffer;
    received_[tensor] = std::move(received);
  } else {
    call.receive = flat_view(target);
  }
  results_.push_back(std::move(target));
  calls_.push_back(std::move(call));
}

Status RankStep::gather(size_t tensor, const Tensor& local) {
  const bool pads = step_.pack_bytes != 0;
  Received received{{}, {}, {}, wire_outermost()};
  for (const int64_t member : team_.ranks) received.maps.push_back(from_map(tensor, member));
  const int64_t padded = pads ? most_of(received.maps) : 0;
  Tensor target = make_target(tensor, local.meta());
  Status status = place_received(target, to_map(tensor, rank_), padded, received);
  if (!status.ok()) return status;
  CollectiveCall call = make_call(Collective::kAllGather);
  call.send = flat_view(local);
  if (pads) {
    call.send = make_flat(local.dtype(), padded, BufferUse::kPack);
    fill_with_zeros(call.send);
    Tensor box = box_of(call.send, 0, local.shape(), received.outermost);
    copy_elements(local, box);
  }
  call.sends = {{0, call.send.element_count()}};
  receive(tensor, std::move(received), std::move(target), std::move(call));
  return {};
}

Status RankStep::pack_exchange(size_t tensor, const Tensor& local, CollectiveCall& call) {
  const bool packs = step_.pack_bytes != 0;
  const IndexMap here = from_map(tensor, rank_);
  call.send =
      packs ? make_flat(local.dtype(), local.element_count(), BufferUse::kPack) : flat_view(local);
  int64_t sent = 0;
  for (const int64_t member : team_.ranks) {
    const IndexMap goes = shared_map(here, to_map(tensor, member));
    const int64_t count = count_of(goes);
    if (!packs) {
      const Dims strides = strides_with_outermost(goes.local_shape(), wire_outermost());
      const MemorySpan span = find_shared(here, local.strides(), goes, strides).in_from;
      if (!span.is_filled_by(count))
        return wrong("what it sends is not one piece of memory, and it does not pack");
      call.sends.push_back({span.begin, count});
      continue;
    }
    if (sent + count > local.element_count()) return wrong("its group would get a part twice");
    Tensor box = box_of(call.send, sent, goes.local_shape(), wire_outermost());
    copy_shared(local, here, box, goes);
    call.sends.push_back({sent, count});
    sent += count;
  }
  return {};
}

Status RankStep::exchange(size_t tensor, const Tensor& local) {
  const IndexMap there = to_map(tensor, rank_);
  Received received{{}, {}, {}, wire_outermost()};
  for (const int64_t member : team_.ranks)
    received.maps.push_back(shared_map(from_map(tensor, member), there));
  Tensor target = make_target(tensor, local.meta());
  Status status = place_received(target, there, 0, received);
  if (!status.ok()) return status;
  CollectiveCall call = make_call(Collective::kAllToAll);
  if (status = pack_exchange(tensor, local, call); !status.ok()) return status;
  receive(tensor, std::move(received), std::move(target), std::move(call));
  return {};
}

// Each member's part, padded to `padded` elements if that is not 0.
Status RankStep::pack_parts(const Tensor& local, const IndexMap& here,
                            std::span<const IndexMap> parts, int64_t padded, int outermost,
                            CollectiveCall& call) {
  const bool packs = step_.pack_bytes != 0;
  int64_t total = 0;
  for (const IndexMap& part : parts) {
    const int64_t count = count_of(part);
    const Dims strides = strides_with_outermost(part.local_shape(), outermost);
    const SharedPart shared = find_shared(here, local.strides(), part, strides);
    if (shared.count != count) return wrong("it lacks a part of the partial value");
    if (!packs && count > 0 &&
        (!shared.in_from.is_filled_by(count) || shared.in_from.begin != total))
      return wrong("a part is not one share of its memory, and it does not pack");
    call.sends.push_back({total, padded == 0 ? count : padded});
    total += call.sends.back().count;
  }
  call.send = flat_view(local);
  if (!packs) return {};
  call.send = make_flat(local.dtype(), total, BufferUse::kPack);
  if (padded != 0) fill_with_zeros(call.send);
  for (size_t m = 0; m < parts.size(); ++m) {
    Tensor box = box_of(call.send, call.sends[m].offset, parts[m].local_shape(), outermost);
    copy_shared(local, here, box, parts[m]);
  }
  return {};
}

Status RankStep::reduce_scatter(size_t tensor, const Tensor& local) {
  // What a kind of a pack merges comes row-major, where it is packed at all.
  const int outermost = merges_ != nullptr && step_.pack_bytes != 0 ? 0 : wire_outermost();
  std::vector<IndexMap> parts;
  for (const int64_t member : team_.ranks) parts.push_back(to_map(tensor, member));
  const int64_t padded = step_.padding_bytes != 0 ? most_of(parts) : 0;
  CollectiveCall call = make_call(Collective::kReduceScatter);
  Status status = pack_parts(local, from_map(tensor, rank_), parts, padded, outermost, call);
  if (!status.ok()) return status;
  const int64_t count = call.sends[static_cast<size_t>(team_.place)].count;
  if (merges_ != nullptr) {
    call.kind = Collective::kAllToAll;
    merge_later(tensor, local, outermost, count, std::move(call));
    return {};
  }
  // Its padding, if any, lies behind the target.
  const IndexMap& there = parts[static_cast<size_t>(team_.place)];
  call.receive = make_flat(local.dtype(), count, BufferUse::kTarget);
  call.receives = {{0, count}};
  set_reduction(call);
  results_.push_back(box_of(call.receive, 0, there.local_shape(), step_.to_outermost));
  calls_.push_back(std::move(call));
  return {};
}

void RankStep::merge_later(size_t tensor, const Tensor& local, int outermost, int64_t count,
                           CollectiveCall call) {
  Received received{{}, {}, {}, outermost};
  const IndexMap there = to_map(tensor, rank_);
  for (int64_t m = 0; m < team_.size(); ++m) {
    received.pieces.push_back({m * count, count});
    received.maps.push_back(there);
  }
  receive(tensor, std::move(received), make_target(tensor, local.meta()), std::move(call));
}

void RankStep::set_reduction(CollectiveCall& call) const {
  call.reduction = kind_in(step_.from);
  if (is_linear_partial(call.reduction)) call.reduction = "sum";
  for (int d = 0; d < setting_.mesh.ndim(); ++d) {
    if ((step_.mesh_dims >> d & 1) && step_.from.placements[d].is_partial("avg"))
      call.divisor *= setting_.mesh.size(d);
  }
}

Status RankStep::all_reduce(size_t tensor, const Tensor& local) {
  const IndexMap there = to_map(tensor, rank_);
  const int64_t count = local.element_count();
  if (from_map(tensor, rank_) != there) return wrong("it lacks a part of the partial value");
  CollectiveCall call = make_call(Collective::kAllReduce);
  call.send = flat_view(local);
  call.sends = {{0, count}};
  if (merges_ != nullptr) {
    call.kind = Collective::kAllGather;
    merge_later(tensor, local, step_.from_outermost, count, std::move(call));
    return {};
  }
  if (!lies_with_outermost(local.shape(), local.strides(), step_.to_outermost))
    return wrong("the reduced value lies otherwise in memory, and nothing copies it");
  Tensor target = make_target(tensor, local.meta());
  call.receive = flat_view(target);
  call.receives = {{0, count}};
  set_reduction(call);
  results_.push_back(std::move(target));
  calls_.push_back(std::move(call));
  return {};
}

}  // namespace onedim
