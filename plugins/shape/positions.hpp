#pragma once
// Positions: which global rows of a dim are here, and what cuts it. A call on whole tensors has
// all.

#include <onedim/pack.hpp>

namespace shape {

using namespace onedim::api;

// A row of one dim for each row of another, or kNoRow.
using RowMap = std::vector<int64_t>;
inline constexpr int64_t kNoRow = -1;

Shape global_shape(const Call& call, int slot);

// The global indices of the local rows of a dim of global length `whole`.
RowMap rows_here(const Call& call, bool is_output, int slot, int dim, int64_t whole);
// The local row of each global one; kNoRow where it lies elsewhere.
RowMap local_row_of_each(const Call& call, bool is_output, int slot, int dim);
// Whether all of an input's dim is here.
bool is_whole(const Call& call, int slot, int dim);

// Whether this rank has as much of a dim as every rank has where all cuts divide.
bool has_even_share(const Call& call, bool is_output, int slot, int dim);

// Whether each mesh dim that cuts dim `dim` of an input leaves the output as a part of a sum.
bool is_summed(const Call& call, int slot, int dim);
// Emits that an input which is cut on `dim` gives parts of a sum.
void part_of_sum_rules(const Call& call, RuleSink& rules, int slot, int dim);

}  // namespace shape
