#include "walk.hpp"

#include <numeric>

namespace indexing {
namespace {

// Which global indices of a tensor's dim this rank holds, and where.
class Owned {
 public:
  Owned(const Call& call, const Part& part, int dim) {
    const onedim_location_t* at = dim < 0 ? nullptr : call.location();
    size_ = global_size(call, part, dim);
    if (at == nullptr) {
      pieces_.push_back({0, size_, 0});
      return;
    }
    const onedim_slot_location_t& where = (part.is_output ? at->outputs : at->inputs)[part.slot];
    int64_t local = 0;
    for (uint64_t i = where.interval_begins[dim]; i < where.interval_begins[dim + 1]; ++i) {
      const onedim_interval_t& interval = where.intervals[i];
      pieces_.push_back({interval.begin, interval.end, local});
      local += interval.end - interval.begin;
    }
  }
  int64_t size() const { return size_; }
  // -1 where another rank holds it.
  int64_t find(int64_t global) const {
    for (const Piece& piece : pieces_) {
      if (global >= piece.begin && global < piece.end) return global - piece.begin + piece.local;
    }
    return -1;
  }
  std::vector<int64_t> globals(int64_t below) const {
    std::vector<int64_t> list;
    for (const Piece& piece : pieces_) {
      for (int64_t i = piece.begin; i < std::min(piece.end, below); ++i) list.push_back(i);
    }
    return list;
  }

 private:
  struct Piece {
    int64_t begin, end, local;
  };
  int64_t size_ = 0;
  std::vector<Piece> pieces_;
};

// The values of one index: as many to a place as a mask has dims, else one.
struct IndexValues {
  std::vector<int64_t> values;
  int64_t width = 1;
  int64_t count = 0;  // masks: true elements
};

// Calls `body(index)` for every index of `shape` in row-major order.
template <typename Body>
void for_each_index(const Shape& shape, Body&& body) {
  Shape at(shape.size(), 0);
  for (int64_t left = volume(shape); left > 0; --left) {
    body(at);
    for (size_t dim = shape.size(); dim-- > 0 && ++at[dim] == shape[dim];) at[dim] = 0;
  }
}

IndexValues mask_values(const Call& call, const IndexPart& part) {
  const TensorView mask = tensor_of(call, part);
  const std::vector<int64_t> flags = load_dense<int64_t>(mask);
  const Shape shape = part.expanded.empty() ? shape_of(mask) : part.expanded;
  const Shape strides = dense_strides(mask);
  const size_t lead = shape.size() - strides.size();
  IndexValues made;
  made.width = static_cast<int64_t>(shape.size());
  for_each_index(shape, [&](const Shape& at) {
    int64_t offset = 0;
    for (size_t dim = 0; dim < strides.size(); ++dim)
      offset += mask.size(static_cast<int>(dim)) == 1 ? 0 : at[lead + dim] * strides[dim];
    if (flags[static_cast<size_t>(offset)] == 0) return;
    ++made.count;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const int own = static_cast<int>(dim);
      made.values.push_back(part.expanded.empty()
                                ? call.global_index(part.is_output, part.slot, own, at[dim])
                                : at[dim]);
    }
  });
  return made;
}

// One dim of J as this rank walks it; a list holds one entry a place.
struct Axis {
  std::vector<int64_t> places;
  std::vector<std::vector<int64_t>> index_offsets;  // by index
  std::vector<int64_t> items;                       // -1: elsewhere
  std::vector<int64_t> table;
};

class Walk {
 public:
  Walk(const Call& call, const IndexSpace& space, const WalkStrides& strides)
      : call_(call), space_(space), strides_(strides) {
    for (const IndexPart& part : space.indices) {
      if (part.is_mask)
        indices_.push_back(mask_values(call, part));
      else
        indices_.push_back({load_dense<int64_t>(tensor_of(call, part)), 1, 0});
    }
    for (int dim = 0; dim < tensor_of(call, space.table).ndim(); ++dim)
      table_.emplace_back(call, space.table, dim);
    if (space.items.present() && space.items.is_linear) {
      for (int dim = 0; dim < tensor_of(call, space.items).ndim(); ++dim)
        items_.emplace_back(call, space.items, dim);
    }
    for (size_t dim = 0; dim < space.sizes.size(); ++dim) axes_.push_back(make_axis(dim));
    check_linear_items();
  }

  void run(const std::function<void(std::span<const Pair>)>& body) const {
    const size_t ndim = axes_.size();
    for (const Axis& axis : axes_) {
      if (axis.places.empty()) return;
    }
    std::vector<size_t> at(ndim, 0);
    std::vector<Pair> row(ndim > 0 ? axes_.back().places.size() : 1);
    while (true) {
      for (size_t i = 0; i < row.size(); ++i) {
        if (ndim > 0) at[ndim - 1] = i;
        row[i] = pair_at(at);
      }
      body(row);
      size_t dim = ndim > 0 ? ndim - 1 : 0;
      while (dim > 0 && ++at[dim - 1] == axes_[dim - 1].places.size()) at[--dim] = 0;
      if (dim == 0) return;
    }
  }

 private:
  std::vector<int64_t> places_of(size_t dim) const {
    for (size_t k = 0; k < indices_.size(); ++k) {
      const IndexPart& part = space_.indices[k];
      if (!part.runs_over(dim)) continue;
      if (!part.is_mask) return Owned(call_, part, part.dims[dim]).globals(INT64_MAX);
      std::vector<int64_t> places(static_cast<size_t>(indices_[k].count));
      std::iota(places.begin(), places.end(), 0);
      return places;
    }
    if (const Coordinate* coordinate = space_.along(dim); coordinate != nullptr)
      return Owned(call_, space_.table, coordinate->dim).globals(space_.sizes[dim]);
    std::vector<int64_t> places(static_cast<size_t>(space_.sizes[dim]));
    std::iota(places.begin(), places.end(), 0);
    return places;
  }

  // Masks among the indices decide how many places a dim has; the rest must fit.
  void check_count(const Part& part, size_t dim, int64_t count, const char* what) const {
    const int64_t size = global_size(call_, part, part.dims[dim]);
    if (space_.is_masked(dim) && size != count) {
      fail(std::string(what) + " of size " + std::to_string(size) + " does not broadcast to the " +
           std::to_string(count) + " true elements of the mask");
    }
  }

  std::vector<int64_t> index_locals(size_t k, size_t dim,
                                    const std::vector<int64_t>& places) const {
    const IndexPart& part = space_.indices[k];
    if (!part.runs_over(dim)) return std::vector<int64_t>(places.size(), 0);
    const int64_t count = static_cast<int64_t>(places.size());
    if (part.is_mask) {
      require(indices_[k].count == count, "the masks have different numbers of true elements");
      return places;
    }
    check_count(part, dim, count, "an index");
    const Shape strides = dense_strides(tensor_of(call_, part));
    const Owned owned(call_, part, part.dims[dim]);
    std::vector<int64_t> locals;
    for (const int64_t place : places) {
      const int64_t local = owned.find(place);
      locals.push_back(local < 0 ? -1 : local * strides[static_cast<size_t>(part.dims[dim])]);
    }
    return locals;
  }

  // The places that all indices and the table hold.
  void keep_held(Axis& axis, size_t dim) const {
    const Coordinate* coordinate = space_.along(dim);
    size_t kept = 0;
    for (size_t i = 0; i < axis.places.size(); ++i) {
      bool is_held = coordinate == nullptr || axis.table[i] >= 0;
      for (const auto& offsets : axis.index_offsets) is_held = is_held && offsets[i] >= 0;
      if (!is_held) continue;
      axis.places[kept] = axis.places[i];
      axis.table[kept] = axis.table[i];
      for (auto& offsets : axis.index_offsets) offsets[kept] = offsets[i];
      ++kept;
    }
    axis.places.resize(kept);
    axis.table.resize(kept);
    for (auto& offsets : axis.index_offsets) offsets.resize(kept);
  }

  Axis make_axis(size_t dim) const {
    Axis axis;
    axis.places = places_of(dim);
    for (size_t k = 0; k < indices_.size(); ++k)
      axis.index_offsets.push_back(index_locals(k, dim, axis.places));
    axis.table.assign(axis.places.size(), 0);
    if (const Coordinate* coordinate = space_.along(dim);
        coordinate != nullptr && coordinate->dim >= 0) {
      const size_t own = static_cast<size_t>(coordinate->dim);
      for (size_t i = 0; i < axis.places.size(); ++i) {
        const int64_t local = table_[own].find(axis.places[i]);
        axis.table[i] = local < 0 ? -1 : local * strides_.table[own];
      }
    }
    keep_held(axis, dim);
    axis.items.assign(axis.places.size(), 0);
    if (space_.items.runs_over(dim)) {
      const size_t own = static_cast<size_t>(space_.items.dims[dim]);
      check_count(space_.items, dim, static_cast<int64_t>(axis.places.size()), "a dim of values");
      const Owned owned(call_, space_.items, space_.items.dims[dim]);
      for (size_t i = 0; i < axis.places.size(); ++i) {
        const int64_t local = owned.find(axis.places[i]);
        axis.items[i] = local < 0 ? -1 : local * strides_.items[own];
      }
    }
    return axis;
  }

  // A mask may have more true elements than there are items.
  void check_linear_items() const {
    if (!space_.items.is_linear || axes_.size() != 1 || !space_.is_masked(0)) return;
    const int64_t needed = indices_[0].count;
    int64_t given = 1;
    for (const Owned& dim : items_) given *= dim.size();
    if (needed <= given) return;
    fail("the mask has " + std::to_string(needed) + " true elements, but the source only " +
         std::to_string(given) + " elements");
  }

  // Local offset of a row-major global place; -1 elsewhere.
  static int64_t unravel(int64_t place, const std::vector<Owned>& dims, const Shape& strides) {
    int64_t offset = 0;
    for (size_t dim = dims.size(); dim-- > 0; place /= std::max<int64_t>(1, dims[dim].size())) {
      const int64_t local = dims[dim].find(place % std::max<int64_t>(1, dims[dim].size()));
      if (local < 0 || offset < 0)
        offset = -1;
      else
        offset += local * strides[dim];
    }
    return offset;
  }

  int64_t checked(int64_t value, int64_t size, int dim) const {
    const int64_t wrapped = value < 0 && space_.wraps_negative ? value + size : value;
    if (wrapped >= 0 && wrapped < size) return wrapped;
    fail("index " + std::to_string(value) + " is out of range for " +
         (dim < 0 ? "a tensor of " + std::to_string(size) + " elements"
                  : "dim " + std::to_string(dim) + " of size " + std::to_string(size)));
  }

  int64_t index_value(size_t k, int mask_dim, const std::vector<size_t>& at) const {
    int64_t offset = 0;
    for (size_t dim = 0; dim < at.size(); ++dim) offset += axes_[dim].index_offsets[k][at[dim]];
    return indices_[k].values[static_cast<size_t>(offset * indices_[k].width + mask_dim)];
  }

  int64_t table_offset(const std::vector<size_t>& at) const {
    int64_t offset = 0;
    if (space_.is_linear) {
      int64_t size = 1;
      for (const Owned& dim : table_) size *= dim.size();
      return unravel(checked(index_value(0, 0, at), size, -1), table_, strides_.table);
    }
    bool is_here = true;
    for (size_t dim = 0; dim < at.size(); ++dim) offset += axes_[dim].table[at[dim]];
    for (const Coordinate& coordinate : space_.coordinates) {
      if (coordinate.index < 0) continue;
      const int64_t value =
          index_value(static_cast<size_t>(coordinate.index), coordinate.mask_dim, at);
      if (coordinate.dim < 0) {
        checked(value, 1, -1);
        continue;
      }
      const Owned& owned = table_[static_cast<size_t>(coordinate.dim)];
      const int64_t local = owned.find(checked(value, owned.size(), coordinate.dim));
      is_here = is_here && local >= 0 && value != space_.skipped;
      if (is_here) offset += local * strides_.table[static_cast<size_t>(coordinate.dim)];
    }
    return is_here ? offset : -1;
  }

  int64_t items_offset(const std::vector<size_t>& at) const {
    if (!space_.items.present()) return -1;
    int64_t offset = 0, place = 0;
    for (size_t dim = 0; dim < at.size(); ++dim) {
      const Axis& axis = axes_[dim];
      place = place * space_.sizes[dim] + axis.places[at[dim]];
      if (axis.items[at[dim]] < 0) return -1;
      offset += axis.items[at[dim]];
    }
    return space_.items.is_linear ? unravel(place, items_, strides_.items) : offset;
  }

  Pair pair_at(const std::vector<size_t>& at) const { return {table_offset(at), items_offset(at)}; }

  const Call& call_;
  const IndexSpace& space_;
  const WalkStrides& strides_;
  std::vector<IndexValues> indices_;
  std::vector<Owned> table_, items_;
  std::vector<Axis> axes_;
};

}  // namespace

Shape strides_of(const TensorView& tensor) {
  return {tensor.strides().begin(), tensor.strides().end()};
}

Shape dense_strides(const TensorView& tensor) {
  Shape strides(static_cast<size_t>(tensor.ndim()), 1);
  for (int dim = tensor.ndim() - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * tensor.size(dim + 1);
  return strides;
}

void walk(const Call& call, const IndexSpace& space, const WalkStrides& strides,
          const std::function<void(std::span<const Pair>)>& body) {
  Walk(call, space, strides).run(body);
}

}  // namespace indexing
