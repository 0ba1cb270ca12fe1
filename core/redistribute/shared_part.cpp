#include "core/redistribute/shared_part.hpp"

#include <algorithm>

namespace onedim {
namespace {

// Local places of one tensor dim where two ranks hold the same global indices.
struct SharedRun {
  int64_t in_from = 0;
  int64_t in_to = 0;
  int64_t length = 0;
};

std::vector<SharedRun> shared_runs(const Intervals& from, const Intervals& to) {
  std::vector<SharedRun> runs;
  int64_t from_begin = 0;  // local index of from[i].begin
  size_t j = 0;
  int64_t to_begin = 0;
  for (size_t i = 0; i < from.size() && j < to.size();) {
    const int64_t begin = std::max(from[i].begin, to[j].begin);
    const int64_t end = std::min(from[i].end, to[j].end);
    if (begin < end) {
      runs.push_back(
          {from_begin + begin - from[i].begin, to_begin + begin - to[j].begin, end - begin});
    }
    if (from[i].end <= to[j].end) {
      from_begin += from[i].end - from[i].begin;
      ++i;
    } else {
      to_begin += to[j].end - to[j].begin;
      ++j;
    }
  }
  return runs;
}

void extend(MemorySpan& span, int64_t offset, const Dims& box, const Dims& strides) {
  int64_t last = offset;
  for (size_t dim = 0; dim < box.size(); ++dim) last += (box[dim] - 1) * strides[dim];
  const bool is_new = span.begin == span.end;
  span.begin = is_new ? offset : std::min(span.begin, offset);
  span.end = is_new ? last + 1 : std::max(span.end, last + 1);
}

// Calls `body(from_offset, to_offset, box)`, offsets in elements, for each box of shared indices.
template <typename Body>
SharedPart for_each_shared(const IndexMap& from_map, const Dims& from_strides,
                           const IndexMap& to_map, const Dims& to_strides, Body&& body) {
  const size_t ndim = from_map.dims.size();
  absl::InlinedVector<std::vector<SharedRun>, 4> runs(ndim);
  for (size_t dim = 0; dim < ndim; ++dim) {
    runs[dim] = shared_runs(from_map.dims[dim], to_map.dims[dim]);
    if (runs[dim].empty()) return {};
  }
  Dims chosen(ndim, 0);
  SharedPart part;
  while (true) {
    Dims box(ndim);
    int64_t from_offset = 0, to_offset = 0;
    for (size_t dim = 0; dim < ndim; ++dim) {
      const SharedRun& run = runs[dim][static_cast<size_t>(chosen[dim])];
      box[dim] = run.length;
      from_offset += run.in_from * from_strides[dim];
      to_offset += run.in_to * to_strides[dim];
    }
    body(from_offset, to_offset, box);
    part.count += volume(box);
    extend(part.in_from, from_offset, box, from_strides);
    extend(part.in_to, to_offset, box, to_strides);
    size_t dim = ndim;
    while (dim-- > 0) {
      if (++chosen[dim] < static_cast<int64_t>(runs[dim].size())) break;
      chosen[dim] = 0;
    }
    if (dim == static_cast<size_t>(-1)) return part;
  }
}

}  // namespace

int64_t count_of(const IndexMap& map) {
  int64_t count = 1;
  for (const Intervals& intervals : map.dims) count *= length_of(intervals);
  return count;
}

IndexMap shared_map(const IndexMap& a, const IndexMap& b) {
  IndexMap shared;
  shared.dims.resize(a.dims.size());
  for (size_t dim = 0; dim < a.dims.size(); ++dim) {
    const Intervals &one = a.dims[dim], &two = b.dims[dim];
    for (size_t i = 0, j = 0; i < one.size() && j < two.size();) {
      const Interval interval{std::max(one[i].begin, two[j].begin),
                              std::min(one[i].end, two[j].end)};
      if (interval.begin < interval.end) shared.dims[dim].push_back(interval);
      if (one[i].end <= two[j].end)
        ++i;
      else
        ++j;
    }
  }
  return shared;
}

SharedPart find_shared(const IndexMap& from_map, const Dims& from_strides, const IndexMap& to_map,
                       const Dims& to_strides) {
  return for_each_shared(from_map, from_strides, to_map, to_strides, [](auto&&...) {});
}

SharedPart copy_shared(const Tensor& from, const IndexMap& from_map, Tensor& to,
                       const IndexMap& to_map) {
  const int64_t size = size_of(from.dtype());
  return for_each_shared(from_map, from.strides(), to_map, to.strides(),
                         [&](int64_t from_offset, int64_t to_offset, const Dims& box) {
                           copy_box(from.data() + from_offset * size, from.strides(),
                                    to.data() + to_offset * size, to.strides(), box, size);
                         });
}

}  // namespace onedim
