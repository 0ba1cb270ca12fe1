#pragma once
// Every op of this pack pairs two tensors over an index space J. The items are addressed by the
// place j in J, the table by coordinates that index tensors hold at j or that are places of j:
//
//   selecting (gather, index, embedding)   items[j] = table[c(j)]             items are the output
//   updating  (scatter, index_put, ...)    table[c(j)] = op(old, items[j])    table is the output
//
// gather(self [4,6], dim 0, index [3,5]): J = [3,5], c(i,k) = (index[i,k], k), items [3,5].
// index(self [4,6,8], [-, a [5,1], b [3]]): J = [4,5,3], c(i,k,l) = (i, a[k,0], b[l]).
//
// All sizes are global ones; where each tensor's shard lies is what the walk (walk.hpp) asks for.

#include <onedim/pack.hpp>

namespace indexing {

using namespace onedim::api;

inline constexpr uint64_t kIndexable = kAllDTypes & ~kF8DTypes;
// Of a dim of J that a mask's true elements make up.
inline constexpr int64_t kUnknownSize = -1;

// A tensor of the call and how J runs over it.
struct Part {
  bool is_output = false;
  int slot = -1;           // -1: there is no such tensor
  std::vector<int> dims;   // own dim for every dim of J; -1 where it has none or broadcasts
  bool is_linear = false;  // addressed by the row-major place in J instead

  bool present() const { return slot >= 0; }
  bool runs_over(size_t space_dim) const { return present() && !is_linear && dims[space_dim] >= 0; }
};

// A bool mask stands for one index a dim of its own; they run over one dim of J together.
struct IndexPart : Part {
  bool is_mask = false;
  Shape expanded = {};  // a mask's shape after broadcasting, where it does; then it is replicated
};

// One coordinate of the table: its own dim (-1: the one element of a 0-dim tensor), and the number
// of the index that holds it (of a mask, the mask's dim) or the dim of J whose place it is.
struct Coordinate {
  int dim = -1;
  int index = -1;
  int mask_dim = 0;
  int space_dim = -1;
};

struct IndexSpace {
  Shape sizes;
  std::vector<IndexPart> indices;
  Part items;
  Part table;  // its dims are in `coordinates`
  std::vector<Coordinate> coordinates;
  bool wraps_negative = false;  // -1 is the last coordinate
  bool is_linear = false;       // the one index counts the table's elements, row-major
  int64_t skipped = INT64_MIN;  // places where an index has this value are left out

  // No two places of J share an element of the table, whatever the indices hold.
  bool is_injective() const;
  // Whether the numbers of index values on a dim of J follow a mask.
  bool is_masked(size_t space_dim) const { return sizes[space_dim] == kUnknownSize; }
  // The coordinate that is the place on a dim of J; null.
  const Coordinate* along(size_t space_dim) const;
};

TensorView tensor_of(const Call& call, const Part& part);
int64_t global_size(const Call& call, const Part& part, int dim);
Shape global_shape(const Call& call, const Part& part);
int64_t volume(const Shape& shape);

Part input_part(const Call& call, std::string_view name);
inline Part output_part() { return {true, 0, {}, false}; }
// A part whose dims are the first dims of J, one by one; one of 0 dims runs over none.
Part parallel(const Call& call, Part part, size_t space_dims);
// A part that broadcasts to J's dims [.., end), aligned to the right.
Part broadcasting(const Call& call, Part part, size_t space_dims, size_t end);

enum class IndexDTypes { kI64, kI64OrI32 };
// Throws unless the index is there and an integer tensor.
void require_index(const TensorView& index, IndexDTypes dtypes);

}  // namespace indexing
