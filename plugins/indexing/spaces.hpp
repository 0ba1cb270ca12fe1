#pragma once
// The index spaces that several families share.
//
//   elementwise   J is the index's shape: gather, scatter       c(i,k) = (index[i,k], k)
//   slices        one index vector along a dim: index_select    c(i,k) = (index[i], k)

#include "index_space.hpp"

namespace indexing {

// The dim that `dim` names; 0 for 0-dim tensors.
int dim_argument(const Call& call, const TensorView& table);
IndexSpace elementwise_space(const Call& call, Part table, Part items);
// ATen's checks of gather and scatter: as many dims, and no dim but `dim` longer than the table's.
void check_elementwise(const Call& call, IndexDTypes dtypes);
IndexSpace slice_space(const Call& call, Part table, Part items);
void check_slices(const Call& call, IndexDTypes dtypes);
// Elements of a 0-dim or one-dim index.
int64_t index_count(const Call& call);

}  // namespace indexing
