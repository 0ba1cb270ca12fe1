// The rows of a slice or select given instead of taken: zeros (the backward ops) or self (the
// scatters) with y[start + step j] = x[j]. Each rank puts in place the rows that are its own, so
// the dim may be sharded where the part is whole; the part may be cut too where its walk lines up.
//   select_scatter f32[5,7], f32[7] at row 2: S*(0) | S*(0), R;  S*(1) | S*(1), S*(0)
// An input that is written over entirely may be any partial.

#include "families.hpp"
#include "walk.hpp"

namespace shape {
namespace {

RowMap given_rows(const Walk& walk) {
  RowMap rows(static_cast<size_t>(walk.length), kNoRow);
  for (int64_t i = 0; i < walk.count(); ++i) rows[walk.start + i * walk.step] = i;
  return rows;
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

Walk sliced_walk(const Call& call, const Shape& whole) {
  return walk_of(call, whole[sliced_dim(call, static_cast<int>(whole.size()))]);
}

Movement slice_backward_movement(const Call& call) {
  const Shape whole = told_shape(call);
  const int dim = sliced_dim(call, static_cast<int>(whole.size()));
  const Walk walk = sliced_walk(call, whole);
  Movement movement{
      whole, {slice_source(call, 0, dim, walk, whole, "grad_output")}, false, true, {}};
  return movement;
}

Movement select_backward_movement(const Call& call) {
  const Shape whole = told_shape(call);
  const int dim = sliced_dim(call, static_cast<int>(whole.size()));
  return {whole, {row_source(call, 0, dim, whole, "grad_output")}, false, true, {}};
}

Movement slice_scatter_movement(const Call& call) {
  require_one_dtype(call);
  const Shape whole = global_shape(call, 0);
  const int dim = sliced_dim(call, call.input(0).ndim());
  const Walk walk = sliced_walk(call, whole);
  Movement movement{whole,
                    {whole_source(call, 0), slice_source(call, 1, dim, walk, whole, "src")},
                    false,
                    true,
                    {}};
  if (walk.count() == walk.length) movement.unread.push_back(0);
  if (walk.count() == 0) movement.unread.push_back(1);
  return movement;
}

Movement select_scatter_movement(const Call& call) {
  require_one_dtype(call);
  const Shape whole = global_shape(call, 0);
  const int dim = sliced_dim(call, call.input(0).ndim());
  Movement movement{
      whole, {whole_source(call, 0), row_source(call, 1, dim, whole, "src")}, false, true, {}};
  if (whole[dim] == 1) movement.unread.push_back(0);
  return movement;
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

void declare_backwards(Registrar& r) {
  declare_movement(r,
                   "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt "
                   "start, SymInt end, SymInt step) -> Tensor",
                   slice_backward_movement, zero)
      .summary("zeros of input_sizes with grad_output at the rows that slice.Tensor takes")
      .size_attribute("input_sizes")
      .rules([](const Call& call, RuleSink& rules) {
        const Movement movement = slice_backward_movement(call);
        lined_up_rules(rules, movement, sliced_walk(call, movement.shape));
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

void declare_replacements(Registrar& r) {
  declare_movement(r,
                   "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? "
                   "end=None, SymInt step=1) -> Tensor",
                   slice_scatter_movement)
      .summary("self with src at the rows that slice.Tensor takes")
      .rules([](const Call& call, RuleSink& rules) {
        const Movement movement = slice_scatter_movement(call);
        lined_up_rules(rules, movement, sliced_walk(call, movement.shape));
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

void declare_scatters(Registrar& r) {
  declare_backwards(r);
  declare_replacements(r);
}

}  // namespace shape
