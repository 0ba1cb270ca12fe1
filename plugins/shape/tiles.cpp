// Whole tensors repeated and turned: y[i, j, ..] = x[a(i), b(j), ..] with
//   repeat a(i) = i mod L,   flip a(i) = L-1-i,   roll a(i) = (i - shift) mod L.
// Dims that do not change take any shard. k repeats of a dim of length L are k chunks of L, so a
// plain shard of the input is a strided one of the output, at any length:
//   repeat f32[5] by [3] over 2 ranks: SS(0,3) | S(0), rank 0 has rows 0:3, 5:8, 10:13

#include "families.hpp"
#include "movement.hpp"
#include "view_strides.hpp"

namespace shape {
namespace {

int64_t modulo(int64_t a, int64_t n) { return ((a % n) + n) % n; }

int added_dims(const Call& call, const Shape& repeats) {
  const int added = static_cast<int>(repeats.size()) - call.input(0).ndim();
  if (added < 0) {
    fail("repeats " + format_shape(repeats) + " has fewer entries than self of shape " +
         format_shape(call.input(0).shape()) + " has dims");
  }
  for (int64_t count : repeats) {
    if (count < 0) fail("repeats " + format_shape(repeats) + " has a negative number");
  }
  return added;
}

Movement repeat_movement(const Call& call) {
  const Shape repeats = call.attribute<std::vector<int64_t>>("repeats"),
              from = global_shape(call, 0);
  const int added = added_dims(call, repeats);
  Movement movement{{}, {{0, {}}}, false, false, {}};
  for (int dim = 0; dim < static_cast<int>(repeats.size()); ++dim) {
    const int own = dim - added;
    const int64_t length = own < 0 ? 1 : from[own];
    RowMap rows(static_cast<size_t>(length * repeats[dim]));
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i) % length;
    movement.shape.push_back(static_cast<int64_t>(rows.size()));
    movement.sources[0].dims.push_back(rows_of(call, 0, own < 0 ? -1 : own, std::move(rows)));
  }
  return movement;
}

void repeated_shard_rules(const Call& call, RuleSink& rules) {
  const Shape repeats = call.attribute<std::vector<int64_t>>("repeats");
  const int added = added_dims(call, repeats);
  for (int dim = added; dim < static_cast<int>(repeats.size()); ++dim) {
    if (repeats[dim] < 2) continue;
    const Placement output{ONEDIM_PLACEMENT_STRIDED_SHARD, dim, repeats[dim], {}, 0, 0};
    const Placement input = shard(dim - added);
    rules.add(std::span(&output, 1), std::span(&input, 1));
  }
}

Movement flip_movement(const Call& call) {
  const auto dims = call.attribute<std::vector<int64_t>>("dims");
  std::vector<std::optional<RowMap>> rows(static_cast<size_t>(call.input(0).ndim()));
  const std::vector<bool> turned =
      dims.empty() ? std::vector<bool>(rows.size(), false) : dim_mask(dims, call.input(0).ndim());
  for (int dim = 0; dim < static_cast<int>(rows.size()); ++dim) {
    if (!turned[dim]) continue;
    const int64_t length = call.global_size(false, 0, dim);
    rows[dim].emplace(static_cast<size_t>(length));
    for (int64_t i = 0; i < length; ++i) (*rows[dim])[i] = length - 1 - i;
  }
  return with_rows(call, std::move(rows));
}

RowMap rolled_rows(int64_t length, int64_t shift) {
  RowMap rows(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) rows[i] = modulo(i - shift, length);
  return rows;
}

// Without dims the tensor rolls as one row-major vector: a row is carried into the next.
bool rolls_flat(const Call& call) {
  return call.attribute<std::vector<int64_t>>("dims").empty() && call.input(0).ndim() != 1;
}

// Shifts by dim; a dim given twice moves by both.
Movement roll_movement(const Call& call) {
  const auto shifts = call.attribute<std::vector<int64_t>>("shifts");
  auto dims = call.attribute<std::vector<int64_t>>("dims");
  const int ndim = call.input(0).ndim();
  if (dims.empty() && ndim == 1) dims = {0};
  if (shifts.size() != dims.size()) {
    fail("roll has " + std::to_string(shifts.size()) + " shifts for " +
         std::to_string(dims.size()) + " dims, expected one each");
  }
  require(ndim > 0, "a 0-dim tensor has no dim to roll");
  Shape by_dim(static_cast<size_t>(ndim), 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const int dim = wrap_dim(dims[i], ndim);
    const int64_t length = call.global_size(false, 0, dim);
    if (length > 0) by_dim[dim] = modulo(by_dim[dim] + shifts[i] % length, length);
  }
  std::vector<std::optional<RowMap>> rows(by_dim.size());
  for (int dim = 0; dim < ndim; ++dim)
    rows[dim] = rolled_rows(call.global_size(false, 0, dim), by_dim[dim]);
  return with_rows(call, std::move(rows));
}

int64_t flat_shift(const Call& call) {
  const auto shifts = call.attribute<std::vector<int64_t>>("shifts");
  require(shifts.size() == 1, "roll without dims needs one shift");
  int64_t count = 1;
  for (int64_t size : global_shape(call, 0)) count *= size;
  return count > 0 ? modulo(shifts[0], count) : 0;
}

// A local call has all of the tensor, or nothing to shift.
void roll_flat(const Call& call) {
  const int64_t item = size_of(call.input(0).dtype()), count = call.input(0).element_count();
  std::vector<std::byte> dense(static_cast<size_t>(count * item));
  Box flat = box_of(call.input(0));
  int64_t stride = 1;
  for (size_t dim = flat.sizes.size(); dim-- > 0; stride *= flat.sizes[dim])
    flat.strides[dim] = stride;
  flat.data = dense.data();
  copy_box(box_of(call.input(0)), flat);
  std::rotate(dense.begin(), dense.end() - flat_shift(call) * item, dense.end());
  copy_box(flat, box_of(call.output()));
}

void infer_roll(const Call& call, OutputSink& outputs) {
  if (!rolls_flat(call)) {
    outputs.add(call.input(0).dtype(), local_shape(call, roll_movement(call)));
    return;
  }
  for (int dim = 0; flat_shift(call) != 0 && dim < call.input(0).ndim(); ++dim)
    require(is_whole(call, 0, dim), "a tensor rolls without dims only where all of it is here");
  outputs.add(call.input(0).dtype(), shape_of(call.input(0)));
}

void roll_rules(const Call& call, RuleSink& rules) {
  if (!rolls_flat(call)) return movement_rules(call, rules, roll_movement(call));
  for (int dim = 0; dim < call.input(0).ndim() && flat_shift(call) == 0; ++dim)
    rules.add_named(any_shard(dim), {{"self", any_shard(dim)}});
}

void declare_repeat(Registrar& r) {
  declare_movement(r, "repeat(Tensor self, SymInt[] repeats) -> Tensor", repeat_movement)
      .summary("self repeated along each dim, new ones in front")
      .rules(repeated_shard_rules)
      .families(passes_all("self"))
      .samples({"f64[5,7]; repeats=[2,1]", "f32[4]; repeats=[3]", "i64[3]; repeats=[2,2]",
                "bool[1,4]; repeats=[5,1]", "c64[2,1,3]; repeats=[1,1,2]", "bf16[]; repeats=[4]",
                "u8[2,3]; repeats=[4,1,1]"});
}

void declare_turns(Registrar& r) {
  declare_movement(r, "flip(Tensor self, int[] dims) -> Tensor", flip_movement)
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.input(0);
        Shape shape = local_shape(call, flip_movement(call));
        Shape strides = dense_like(shape, strides_of(self));
        outputs.add({self.dtype(), std::move(shape), std::move(strides), -1, 0});
      })
      .summary("self with the rows of some dims in reverse")
      .families(passes_all("self"))
      .samples({"f64[5,7]; dims=[0]", "f32[4]; dims=[-1]", "i64[3,1,4]; dims=[0,2]",
                "bool[2,4]; dims=[]", "c64[2,3]; dims=[1]"});
  r.op("roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor")
      .summary("self with the rows of some dims moved on, the last ones to the front")
      .position_aware()
      .infer(infer_roll)
      .rules(roll_rules)
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 if (rolls_flat(call))
                   roll_flat(call);
                 else
                   run_movement(call, roll_movement(call));
               })
      .families(passes_all("self"))
      .samples({"f64[5,7]; shifts=[2]; dims=[0]", "f32[4]; shifts=[-1]",
                "i64[3,1,4]; shifts=[1,3]; dims=[0,-1]", "bool[2,4]; shifts=[4]; dims=[1]",
                "c64[2,3]; shifts=[2]", "u8[6,2]; shifts=[0]; dims=[0]"});
}

}  // namespace

void declare_tiles(Registrar& r) {
  declare_repeat(r);
  declare_turns(r);
}

}  // namespace shape
