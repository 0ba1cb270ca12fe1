#pragma once
// Movement: an output assembled of rows of its inputs, dim by dim. A source says for each output
// dim which input dim it follows and, unless the two run in step, which input row each output row
// takes. Everything is said of the global tensors; local calls look up which rows are here.
//   slice.Tensor f32[7] from 1 by 2: one source, rows {1,3,5}
//   stack of two f32[3] on dim 0: two sources, rows {0,none} and {none,0} of a dim they lack

#include <optional>

#include "box.hpp"
#include "positions.hpp"

namespace shape {

// How a source follows one output dim.
struct DimSource {
  int in_dim = -1;      // -1: the input lacks the dim; it has one row there
  bool in_step = true;  // row i takes row i, and both have as many
  RowMap rows;          // of a dim that is not in step
  int64_t step = 1;     // how far apart its rows are, for a view of one row
};

struct Source {
  int slot = 0;
  std::vector<DimSource> dims;  // one an output dim
  int picked_dim = -1;          // an input dim that the output lacks:
  int64_t picked_row = 0;       // the row of it that the output takes
};

struct Movement {
  Shape shape;  // of the global output
  std::vector<Source> sources;
  // Whether rows that lie elsewhere may count as 0, where the output is a part of a sum.
  bool sums_parts = false;
  // Whether a cut source is read only where all cuts divide, since elsewhere its rows are those
  // that a rank needs by the luck of the lengths.
  bool evenly = false;
  std::vector<int> unread;  // inputs of which no element reaches the output
};
using MovementFn = Movement (*)(const Call& call);

// All of an input's dims, in step.
Source whole_source(const Call& call, int slot);
// The rows of `in_dim` that a dim takes; in step if they are all of them in their order.
DimSource rows_of(const Call& call, int slot, int in_dim, RowMap rows);

// The first input alone, dims in step but for those that `rows` has rows of, one entry a dim.
Movement with_rows(const Call& call, std::vector<std::optional<RowMap>> rows);

// The local output's shape: dims in step with a source are as long as the source's, others as the
// output is placed. Refuses a call whose output needs rows that lie elsewhere.
Shape local_shape(const Call& call, const Movement& movement);

// Dims in step take any shard on both sides; others may be sharded where the sources are whole.
// Partials are the caller's.
void movement_rules(const Call& call, RuleSink& rules, const Movement& movement);

// The local input row of each local output row of a dim that is not in step; kNoRow if elsewhere.
RowMap local_rows(const Call& call, const Source& source, int out_dim);

// Copies what is here; output elements that no source gives keep what they hold.
void run_movement(const Call& call, const Movement& movement);
// One source, whose elements lie in `from`.
void run_source(const Call& call, const Source& source, const Box& from);

// An op that is one movement: infer, rules and a kernel that fills gaps with what
// `gap` gives for the call.
using GapFn = std::array<std::byte, 16> (*)(const Call& call);
OpBuilder& declare_movement(Registrar& r, std::string_view schema, MovementFn movement,
                            GapFn gap = nullptr);

}  // namespace shape
