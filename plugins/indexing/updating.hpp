#pragma once
// Updating ops write: table[c(j)] = op(old, items[j]) for every j, in row-major order of J, where
// several j may share an element of the table. `op` replaces, adds, multiplies, averages, or keeps
// the larger or smaller; the old value takes part, or elements that are written start anew.
//
// scatter_add(self [5], dim 0, index [3] = 4 1 4, src [3] = a b c): out[1] += b, out[4] += a + c.

#include "index_space.hpp"

namespace indexing {

using SpaceFn = IndexSpace (*)(const Call&);

enum class Combine { kReplace, kAdd, kMultiply, kMean, kMax, kMin };

struct Update {
  Combine combine = Combine::kReplace;
  bool keeps_old = false;                  // the old value counts beside the items
  Part base;                               // the table before; not present: zeros
  const onedim_value_t* number = nullptr;  // every item, where they are no tensor
  std::complex<double> scale = 1;          // of every item
};
using UpdateFn = Update (*)(const Call&);

// What `op` is for elements of this dtype: sums of bools are `or`, their products `and`.
Combine combine_for(Combine combine, DType dtype);
// Throws where ATen has no such update of this dtype.
void check_update(const Update& update, DType dtype);

void updating_rules(const Call& call, RuleSink& rules, const IndexSpace& space,
                    const Update& update);
void update_table(const Call& call, const IndexSpace& space, const Update& update);
// Rules and kernel of an op whose infer is its own.
OpBuilder& updating(OpBuilder& op, SpaceFn space_of, UpdateFn update_of);

// The range of an integer dtype; a bool is 0 or 1.
int64_t lowest_integer(DType dtype);
int64_t highest_integer(DType dtype);

// The number as an element of `dtype`.
onedim_value_t settled_number(const onedim_value_t& number, DType dtype);

}  // namespace indexing
