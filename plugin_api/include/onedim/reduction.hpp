#pragma once
// Reductions: ops that fold dims of their first input away. The dims come from the argument `dim`
// or `dims` (an int, a list, or none), `keepdim` leaves them with size 1. A fold walks the input
// once in memory order, whatever is reduced, and keeps one accumulator per output element; rows are
// folded in blocks of 128, so n elements of a row cost 128 + n/128 roundings, not n.

#include <onedim/dense.hpp>
#include <onedim/inline.hpp>
#include <onedim/shapes.hpp>

#include <optional>

namespace onedim::api {

// Whether an empty list of dims means all dims or none.
enum class EmptyDims { kAll, kNone };

ONEDIM_INLINE std::vector<bool> reduced_dims(const Call& call, EmptyDims empty = EmptyDims::kAll) {
  const int ndim = call.input(0).ndim();
  const char* name = call.find_attribute("dims") != nullptr ? "dims" : "dim";
  if (!call.has_attribute(name)) return std::vector<bool>(ndim, true);
  const auto dims = call.attribute<std::vector<int64_t>>(name);
  if (dims.empty() && empty == EmptyDims::kNone) return std::vector<bool>(ndim, false);
  return dim_mask(dims, ndim);
}

ONEDIM_INLINE bool keeps_dims(const Call& call) {
  return call.has_attribute("keepdim") && call.attribute<bool>("keepdim");
}

// How many elements of the global input one output element stands for.
ONEDIM_INLINE int64_t reduced_count(const Call& call, const std::vector<bool>& reduced) {
  int64_t count = 1;
  for (size_t dim = 0; dim < reduced.size(); ++dim) {
    if (reduced[dim]) count *= call.global_size(false, 0, static_cast<int>(dim));
  }
  return count;
}

// Accumulators in the output's row-major order. `op(Acc, Acc)` is associative with `identity`
// neutral; elements are loaded as C, and `map` makes an Acc of each.
template <typename C, typename Acc, typename Op, typename Map>
std::vector<Acc> fold(const TensorView& in, const std::vector<bool>& reduced, Acc identity, Op op,
                      Map map) {
  constexpr int64_t kBlock = 128;
  const int last = in.ndim() - 1;
  std::array<int64_t, kMaxDims> steps{};
  int64_t kept = 1;
  require(in.ndim() <= kMaxDims, "tensors of more than 16 dims are not supported");
  for (int dim = last; dim >= 0; --dim) {
    if (reduced[dim]) continue;
    steps[dim] = kept;
    kept *= in.size(dim);
  }
  std::vector<Acc> totals(static_cast<size_t>(kept), identity);
  const bool keeps_rows = last >= 0 && !reduced[last];
  const auto fold_block = [&](const C* row, int64_t count, Acc* total) {
    if (keeps_rows) {
      for (int64_t i = 0; i < count; ++i) total[i] = op(total[i], map(row[i]));
      return;
    }
    Acc part = identity;
    for (int64_t i = 0; i < count; ++i) part = op(part, map(row[i]));
    *total = op(*total, part);
  };
  for_each_indexed_row(in, [&](const auto& index, int64_t offset, int64_t count, int64_t stride) {
    int64_t at = 0;
    for (int dim = 0; dim < last; ++dim) at += index[dim] * steps[dim];
    std::array<C, kBlock> row;
    for (int64_t begin = 0; begin < count; begin += kBlock) {
      const int64_t size = std::min(kBlock, count - begin);
      const int64_t bytes = (offset + begin * stride) * size_of(in.dtype());
      load_row(in.dtype(), in.data_as<const std::byte>() + bytes, stride, size, row.data());
      fold_block(row.data(), size, totals.data() + at + (keeps_rows ? begin : 0));
    }
  });
  return totals;
}
template <typename C, typename Acc, typename Op>
std::vector<Acc> fold(const TensorView& in, const std::vector<bool>& reduced, Acc identity, Op op) {
  return fold<C>(in, reduced, identity, op, [](const C& x) { return Acc(x); });
}

}  // namespace onedim::api
