// Parts of one dim: y[j] = x[start + step j], and select's one row without the dim. In general a
// rank's rows of y lie elsewhere. But it may give what it has of x, and the ranks' parts add up to
// y: P(sum) | S*(0). A slice that walks through the whole dim lines up where it divides (walk.cpp),
// and then has no need of a sum of its own size.
//   slice.Tensor f32[8] to 2: P(sum) | S(0), rank 0 gives both rows and the others zeros

#include "families.hpp"
#include "walk.hpp"

namespace shape {
namespace {

RowMap taken_rows(const Walk& walk) {
  RowMap rows(static_cast<size_t>(walk.count()));
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = walk.start + static_cast<int64_t>(i) * walk.step;
  return rows;
}

Movement slice_along(const Call& call, int dim, const Walk& walk) {
  Movement movement{global_shape(call, 0), {whole_source(call, 0)}, !walk.lines_up(), true, {}};
  movement.shape[dim] = walk.count();
  movement.sources[0].dims[dim] = rows_of(call, 0, dim, taken_rows(walk));
  movement.sources[0].dims[dim].step = walk.step;
  return movement;
}

Walk slice_walk(const Call& call) {
  return walk_of(call, call.global_size(false, 0, sliced_dim(call, call.input(0).ndim())));
}

Movement slice_movement(const Call& call) {
  return slice_along(call, sliced_dim(call, call.input(0).ndim()), slice_walk(call));
}

Movement narrow_movement(const Call& call) {
  const int dim = sliced_dim(call, call.input(0).ndim());
  const int64_t length = call.global_size(false, 0, dim);
  const int64_t asked = call.attribute<int64_t>("start"), count = call.attribute<int64_t>("length");
  const int64_t start = asked < 0 ? asked + length : asked;
  if (start < 0 || count < 0 || start + count > length) {
    fail("start " + std::to_string(asked) + " with length " + std::to_string(count) +
         " leaves a dim of size " + std::to_string(length));
  }
  return slice_along(call, dim, {length, start, start + count, 1});
}

Movement select_movement(const Call& call) {
  const int dim = sliced_dim(call, call.input(0).ndim());
  Movement movement{global_shape(call, 0), {whole_source(call, 0)}, true, true, {}};
  Source& source = movement.sources[0];
  source.picked_dim = dim;
  source.picked_row = checked_index(call.attribute<int64_t>("index"), movement.shape[dim]);
  source.dims.erase(source.dims.begin() + dim);
  movement.shape.erase(movement.shape.begin() + dim);
  return movement;
}

// Where each rank's rows of a source follow each other evenly, the output is a view of them.
std::optional<Output> view_if_any(const Call& call, const Movement& movement) {
  const TensorView self = call.input(0);
  const Source& source = movement.sources[0];
  Output view = shared_view(self, local_shape(call, movement), {});
  if (source.picked_dim >= 0) {
    if (!is_whole(call, 0, source.picked_dim)) return std::nullopt;
    view.storage_offset = source.picked_row * self.stride(source.picked_dim);
  }
  for (int dim = 0; dim < static_cast<int>(source.dims.size()); ++dim) {
    const int64_t stride = self.stride(source.dims[dim].in_dim);
    view.strides.push_back(stride);
    if (source.dims[dim].in_step) continue;
    if (is_summed(call, 0, source.dims[dim].in_dim)) return std::nullopt;
    const RowMap rows = local_rows(call, source, dim);
    if (std::find(rows.begin(), rows.end(), kNoRow) != rows.end()) return std::nullopt;
    const int64_t step = rows.size() > 1 ? rows[1] - rows[0] : source.dims[dim].step;
    for (size_t i = 1; i < rows.size(); ++i) {
      if (rows[i] - rows[i - 1] != step) return std::nullopt;
    }
    view.strides[dim] = stride * step;
    if (!rows.empty()) view.storage_offset += rows[0] * stride;
  }
  if (self.element_count() == 0) view.storage_offset = 0;
  return view;
}

std::array<std::byte, 16> neutral(const Call& call) {
  return neutral_of_sum(call.output().dtype());
}

// The dim that a slice or select cuts down, -1 if it leaves the tensor whole.
int cut_dim(const Source& source) {
  for (const DimSource& dim : source.dims) {
    if (!dim.in_step) return dim.in_dim;
  }
  return source.picked_dim;
}

OpBuilder& declare_part(Registrar& r, std::string_view schema, MovementFn movement) {
  return declare_movement(r, schema, movement, neutral)
      .infer([movement](const Call& call, OutputSink& outputs) {
        const Movement move = movement(call);
        if (const std::optional<Output> view = view_if_any(call, move))
          outputs.add(*view);
        else
          outputs.add(call.input(0).dtype(), local_shape(call, move));
      })
      .rules([movement](const Call& call, RuleSink& rules) {
        const Movement move = movement(call);
        const int dim = cut_dim(move.sources[0]);
        if (dim >= 0 && move.sums_parts) part_of_sum_rules(call, rules, 0, dim);
      })
      .families(passes_all("self"));
}

void declare_parts(Registrar& r) {
  declare_part(r,
               "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, "
               "SymInt step=1) -> Tensor(a)",
               slice_movement)
      .summary("every step-th row of one dim from start to end, as a view")
      .rules([](const Call& call, RuleSink& rules) {
        lined_up_rules(rules, slice_movement(call), slice_walk(call));
      })
      .samples({"f64[5,7]; dim=1; start=2; end=5", "f32[12]; start=1; step=2",
                "i64[3,8]; dim=-1; step=4", "bool[4,5]; end=9223372036854775807",
                "c64[6,3]; start=-2", "u8[9]; end=-1; step=3", "bf16[1,6]; dim=1; start=4; end=2"});
  declare_part(r, "narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
               narrow_movement)
      .summary("length rows of one dim from start, as a view")
      .samples({"f64[5,7]; dim=1; start=2; length=3", "f32[6]; dim=0; start=-2; length=2",
                "i64[3,4]; dim=-1; start=0; length=4", "bool[4,5]; dim=0; start=1; length=0",
                "c64[5,3]; dim=0; start=3; length=2"});
  declare_part(r, "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", select_movement)
      .summary("one row of one dim, without the dim, as a view")
      .samples({"f64[5,7]; dim=1; index=2", "f32[6]; dim=0; index=-1",
                "i64[3,4,2]; dim=-2; index=0", "bool[4,5]; dim=0; index=3",
                "c64[1,3]; dim=0; index=0", "u8[5,2]; dim=0; index=4"});
}

}  // namespace

void declare_slices(Registrar& r) { declare_parts(r); }

}  // namespace shape
