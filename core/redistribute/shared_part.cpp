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

}  // namespace

SharedPart copy_shared(const Tensor& from, const IndexMap& from_map, Tensor& to,
                       const IndexMap& to_map) {
  const size_t ndim = from_map.dims.size();
  std::vector<std::vector<SharedRun>> runs(ndim);
  for (size_t dim = 0; dim < ndim; ++dim) {
    runs[dim] = shared_runs(from_map.dims[dim], to_map.dims[dim]);
    if (runs[dim].empty()) return {};
  }
  const int64_t size = size_of(from.dtype());
  std::vector<size_t> chosen(ndim, 0);
  SharedPart part;
  while (true) {
    Dims box(ndim);
    int64_t from_offset = 0, to_offset = 0;
    for (size_t dim = 0; dim < ndim; ++dim) {
      const SharedRun& run = runs[dim][chosen[dim]];
      box[dim] = run.length;
      from_offset += run.in_from * from.strides()[dim];
      to_offset += run.in_to * to.strides()[dim];
    }
    copy_box(from.data() + from_offset * size, from.strides(), to.data() + to_offset * size,
             to.strides(), box, size);
    part.count += volume(box);
    extend(part.in_from, from_offset, box, from.strides());
    extend(part.in_to, to_offset, box, to.strides());
    size_t dim = ndim;
    while (dim-- > 0) {
      if (++chosen[dim] < runs[dim].size()) break;
      chosen[dim] = 0;
    }
    if (dim == static_cast<size_t>(-1)) return part;
  }
}

}  // namespace onedim
