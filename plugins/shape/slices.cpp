// Parts of one dim, and tensors with a part replaced: y[j] = x[start + step j].
//   slice.Tensor f32[8] from 1 by 2 takes rows {1,3,5,7}: S(0) | S(0) over 2 ranks, where rows
//   {1,3} of the first half are the first half of the output.
// In general a rank's rows of y lie elsewhere. But it may give what it has of x, and the ranks'
// parts add up to y: P(sum) | S*(0).
// A slice that walks through a whole dim of length L, start < step, lines up where the n ranks
// divide L = n c and the count M = n c' of rows taken: rank r begins at row r c of x, before which
// t(r) = ceil((r c - start) / step) rows are taken, and t(r) = r c'. For let c = step x + y with
// y < step: M = n x + ceil((n y - start) / step), whose last term lies in [0, n] and is a multiple
// of n. It is 0 only if r y <= start for all r, and n only if n (step - y) < step - start; then
// ceil((r y - start) / step) is 0, or r.
// slice_backward and slice_scatter walk the same rows the other way.

#include "families.hpp"
#include "movement.hpp"

namespace shape {
namespace {

// Rows start, start + step, .. before `end` of a dim.
struct Walk {
  int64_t length = 0, start = 0, end = 0, step = 1;

  int64_t count() const { return end > start ? (end - start + step - 1) / step : 0; }
  // It takes one row of each `step` from first to last, so that equal cuts of both sides agree.
  LinesUp lines_up() const {
    const bool is_whole = start < step && start + count() * step >= length;
    return is_whole ? LinesUp::kWhereEven : LinesUp::kNever;
  }
};

int64_t clamped(int64_t index, int64_t length) {
  return std::clamp<int64_t>(index < 0 ? index + length : index, 0, length);
}

int sliced_dim(const Call& call, int ndim) {
  require(ndim > 0, "a 0-dim tensor has no dim to slice");
  return wrap_dim(call.attribute<int64_t>("dim"), ndim);
}

Walk walk_of(const Call& call, int64_t length) {
  const int64_t start = call.attribute<std::optional<int64_t>>("start").value_or(0);
  const int64_t end = call.attribute<std::optional<int64_t>>("end").value_or(length);
  Walk walk{length, clamped(start, length), clamped(end, length), call.attribute<int64_t>("step")};
  if (walk.step <= 0) fail("step is " + std::to_string(walk.step) + ", expected a positive number");
  return walk;
}

RowMap taken_rows(const Walk& walk) {
  RowMap rows(static_cast<size_t>(walk.count()));
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = walk.start + static_cast<int64_t>(i) * walk.step;
  return rows;
}

RowMap given_rows(const Walk& walk) {
  RowMap rows(static_cast<size_t>(walk.length), kNoRow);
  for (int64_t i = 0; i < walk.count(); ++i) rows[walk.start + i * walk.step] = i;
  return rows;
}

int64_t checked_index(int64_t index, int64_t length) {
  if (index < -length || index >= length) {
    fail("index " + std::to_string(index) + " is out of range for a dim of size " +
         std::to_string(length));
  }
  return index < 0 ? index + length : index;
}

Shape global_shape(const Call& call, int slot) {
  Shape shape;
  for (int dim = 0; dim < call.input(slot).ndim(); ++dim)
    shape.push_back(call.global_size(false, slot, dim));
  return shape;
}

Movement slice_along(const Call& call, int dim, const Walk& walk) {
  Movement movement{global_shape(call, 0), {whole_source(call, 0)}, walk.lines_up(), true, {}};
  movement.shape[dim] = walk.count();
  movement.sources[0].dims[dim] = rows_of(call, 0, dim, taken_rows(walk));
  return movement;
}

Movement slice_movement(const Call& call) {
  const int dim = sliced_dim(call, call.input(0).ndim());
  return slice_along(call, dim, walk_of(call, call.global_size(false, 0, dim)));
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
  Movement movement{global_shape(call, 0), {whole_source(call, 0)}, LinesUp::kNever, true, {}};
  Source& source = movement.sources[0];
  source.picked_dim = dim;
  source.picked_row = checked_index(call.attribute<int64_t>("index"), movement.shape[dim]);
  source.dims.erase(source.dims.begin() + dim);
  movement.shape.erase(movement.shape.begin() + dim);
  return movement;
}

// The shape that a backward op is told; local calls have it from where their output lies.
Shape told_shape(const Call& call) {
  Shape shape = call.attribute<std::vector<int64_t>>("input_sizes");
  const onedim_location_t* at = call.location();
  for (int dim = 0; at != nullptr && dim < static_cast<int>(shape.size()); ++dim)
    shape[dim] = at->outputs[0].global_shape[dim];
  return shape;
}

void require_same_but(const Shape& whole, const Shape& part, int dim, std::string_view what) {
  bool fits = whole.size() == part.size();
  for (size_t i = 0; fits && i < whole.size(); ++i)
    fits = whole[i] == part[i] || static_cast<int>(i) == dim;
  if (!fits) {
    fail(std::string(what) + " of shape " + format_shape(part) + " is no part of shape " +
         format_shape(whole) + " on dim " + std::to_string(dim));
  }
}

// The dims of `slot`, which is a slice of the output.
Source slice_source(const Call& call, int slot, int dim, const Walk& walk, const Shape& whole,
                    std::string_view what) {
  Source source = whole_source(call, slot);
  const Shape part = global_shape(call, slot);
  require_same_but(whole, part, dim, what);
  if (part[dim] != walk.count()) {
    fail(std::string(what) + " has " + std::to_string(part[dim]) + " rows on dim " +
         std::to_string(dim) + ", expected " + std::to_string(walk.count()));
  }
  source.dims[dim] = rows_of(call, slot, dim, given_rows(walk));
  return source;
}

// The dims of `slot`, which is one row of the output.
Source row_source(const Call& call, int slot, int dim, const Shape& whole, std::string_view what) {
  Source source = whole_source(call, slot);
  Shape part = global_shape(call, slot);
  part.insert(part.begin() + std::min(dim, static_cast<int>(part.size())), 1);
  require_same_but(whole, part, dim, what);
  RowMap rows(static_cast<size_t>(whole[dim]), kNoRow);
  rows[checked_index(call.attribute<int64_t>("index"), whole[dim])] = 0;
  source.dims.insert(source.dims.begin() + dim, rows_of(call, slot, -1, std::move(rows)));
  return source;
}

Movement slice_backward_movement(const Call& call) {
  const Shape whole = told_shape(call);
  const int dim = sliced_dim(call, static_cast<int>(whole.size()));
  const Walk walk = walk_of(call, whole[dim]);
  Movement movement{
      whole, {slice_source(call, 0, dim, walk, whole, "grad_output")}, walk.lines_up(), false, {}};
  return movement;
}

Movement select_backward_movement(const Call& call) {
  const Shape whole = told_shape(call);
  const int dim = sliced_dim(call, static_cast<int>(whole.size()));
  return {whole, {row_source(call, 0, dim, whole, "grad_output")}, LinesUp::kNever, false, {}};
}

void require_one_dtype(const Call& call) {
  require(call.input(0).dtype() == call.input(1).dtype(), "self and src must have one dtype");
}

Movement slice_scatter_movement(const Call& call) {
  require_one_dtype(call);
  const Shape whole = global_shape(call, 0);
  const int dim = sliced_dim(call, call.input(0).ndim());
  const Walk walk = walk_of(call, whole[dim]);
  Movement movement{whole,
                    {whole_source(call, 0), slice_source(call, 1, dim, walk, whole, "src")},
                    walk.lines_up(),
                    false,
                    {}};
  if (walk.count() == walk.length) movement.unread.push_back(0);
  if (walk.count() == 0) movement.unread.push_back(1);
  return movement;
}

Movement select_scatter_movement(const Call& call) {
  require_one_dtype(call);
  const Shape whole = global_shape(call, 0);
  const int dim = sliced_dim(call, call.input(0).ndim());
  Movement movement{whole,
                    {whole_source(call, 0), row_source(call, 1, dim, whole, "src")},
                    LinesUp::kNever,
                    false,
                    {}};
  if (whole[dim] == 1) movement.unread.push_back(0);
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
    const int64_t step = rows.size() > 1 ? rows[1] - rows[0] : 1;
    for (size_t i = 1; i < rows.size(); ++i) {
      if (rows[i] - rows[i - 1] != step) return std::nullopt;
    }
    view.strides[dim] = stride * step;
    if (!rows.empty()) view.storage_offset += rows[0] * stride;
  }
  if (self.element_count() == 0) view.storage_offset = 0;
  return view;
}

std::array<std::byte, 16> zero(const Call&) { return {}; }
// All of a movement's inputs partial alike.
void pass_partials(const Call& call, RuleSink& rules, const Movement& movement) {
  for (const auto& [kind, same] : kIdentity) {
    if (!is_legal_partial(kind, call.input(0).dtype())) continue;
    std::vector<Placement> inputs(static_cast<size_t>(call.input_count()), partial(kind));
    add_with_unread(call, rules, partial(kind), std::move(inputs), movement.unread);
  }
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
        const int dim = cut_dim(movement(call).sources[0]);
        if (dim >= 0) part_of_sum_rules(call, rules, 0, dim);
      })
      .families(passes_all("self"));
}

// The sources and the output are cut alike where both divide, for walks that line up.
void lined_up_rules(RuleSink& rules, const Movement& movement) {
  if (movement.lines_up == LinesUp::kNever) return;
  for (int dim = 0; dim < static_cast<int>(movement.shape.size()); ++dim) {
    std::vector<Placement> inputs;
    bool steps = true;
    for (const Source& source : movement.sources) {
      inputs.push_back(shard(source.dims[dim].in_dim));
      steps = steps && source.dims[dim].in_step;
    }
    const Placement output = shard(dim);
    if (!steps) rules.add(std::span(&output, 1), inputs, {ONEDIM_RULE_EVEN_ONLY, 0, {}});
  }
}

void declare_parts(Registrar& r) {
  declare_part(r,
               "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, "
               "SymInt step=1) -> Tensor(a)",
               slice_movement)
      .summary("every step-th row of one dim from start to end, as a view")
      .rules([](const Call& call, RuleSink& rules) { lined_up_rules(rules, slice_movement(call)); })
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

void declare_backwards(Registrar& r) {
  declare_movement(r,
                   "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt "
                   "start, SymInt end, SymInt step) -> Tensor",
                   slice_backward_movement, zero)
      .summary("zeros of input_sizes with grad_output at the rows that slice.Tensor takes")
      .size_attribute("input_sizes")
      .rules([](const Call& call, RuleSink& rules) {
        lined_up_rules(rules, slice_backward_movement(call));
      })
      .families(passes_all("grad_output"))
      .samples({"f64[5,3]; input_sizes=[5,7]; dim=1; start=2; end=5; step=1",
                "f32[6]; input_sizes=[12]; dim=0; start=1; end=12; step=2",
                "i64[3,4]; input_sizes=[3,4]; dim=-1; start=0; end=9223372036854775807; step=1",
                "c64[2,3]; input_sizes=[6,3]; dim=0; start=-2; end=6; step=1",
                "bf16[3]; input_sizes=[9]; dim=0; start=0; end=9; step=3"});
  declare_movement(r,
                   "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt "
                   "index) -> Tensor",
                   select_backward_movement, zero)
      .summary("zeros of input_sizes with grad_output as row `index` of one dim")
      .size_attribute("input_sizes")
      .families(passes_all("grad_output"))
      .samples({"f64[5]; input_sizes=[5,7]; dim=1; index=2",
                "f32[]; input_sizes=[6]; dim=0; index=-1",
                "i64[3,2]; input_sizes=[3,4,2]; dim=-2; index=0",
                "c64[3]; input_sizes=[1,3]; dim=0; index=0",
                "f16[5]; input_sizes=[4,5]; dim=0; index=3"});
}

void declare_scatters(Registrar& r) {
  declare_movement(r,
                   "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? "
                   "end=None, SymInt step=1) -> Tensor",
                   slice_scatter_movement)
      .summary("self with src at the rows that slice.Tensor takes")
      .rules([](const Call& call, RuleSink& rules) {
        const Movement movement = slice_scatter_movement(call);
        lined_up_rules(rules, movement);
        pass_partials(call, rules, movement);
      })
      .out("slice_scatter.out")
      .samples({"f64[5,7]; f64[5,3]; dim=1; start=2; end=5", "f32[12]; f32[6]; start=1; step=2",
                "i64[3,4]; i64[3,4]; dim=-1", "bool[4,5]; bool[2,5]; start=-2",
                "c64[6,3]; c64[2,3]; end=2"});
  declare_movement(r, "select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
                   select_scatter_movement)
      .summary("self with src as row `index` of one dim")
      .rules([](const Call& call, RuleSink& rules) {
        pass_partials(call, rules, select_scatter_movement(call));
      })
      .out("select_scatter.out")
      .samples({"f64[5,7]; f64[5]; dim=1; index=2", "f32[6]; f32[]; dim=0; index=-1",
                "i64[3,4,2]; i64[3,2]; dim=-2; index=0", "bool[4,5]; bool[5]; dim=0; index=3",
                "c64[1,3]; c64[3]; dim=0; index=0"});
}

}  // namespace

void declare_slices(Registrar& r) {
  declare_parts(r);
  declare_backwards(r);
  declare_scatters(r);
}

}  // namespace shape
