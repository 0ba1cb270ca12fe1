// Tensors joined: y[o_k + i] = x_k[i], o_k the rows of those before. cat joins along a dim that
// all have, stack along a new one of one row each. Other dims take any shard, the same on all; the
// joined one may be sharded where all inputs are whole.
//   cat f32[2,4], f32[3,4] on dim 0: S*(1) | S*(1), S*(1);  S*(0) | R, R;  P(sum) | P(sum), P(sum)
// An input that is R among P(sum) ones would be added once a rank; among P(max) ones it may stay.

#include "casts.hpp"
#include "families.hpp"
#include "movement.hpp"

namespace shape {
namespace {

DType joined_dtype(const Call& call) {
  ResultType result;
  for (const TensorView& tensor : call.tensors("tensors"))
    result.add_tensor(tensor.dtype(), tensor.ndim());
  return result.get();
}

// Before dims had size 0 one by one, an empty tensor was f32[0]; cat still skips those.
bool is_skipped(const Call& call, int slot) {
  return call.input(slot).ndim() == 1 && call.global_size(false, slot, 0) == 0;
}

int joined_dim(const Call& call, int ndim) {
  require(call.input_count() > 0, "the list of tensors is empty");
  return wrap_dim(call.attribute<int64_t>("dim"), ndim);
}

// Of inputs that must be alike but for the joined dim.
void require_alike(const Call& call, int first, int slot, int dim) {
  const TensorView a = call.input(first), b = call.input(slot);
  bool fits = a.ndim() == b.ndim();
  for (int i = 0; fits && i < a.ndim(); ++i) fits = i == dim || a.size(i) == b.size(i);
  if (!fits) {
    fail("tensor " + std::to_string(slot) + " has shape " + format_shape(b.shape()) +
         ", which does not join " + format_shape(a.shape()) +
         (dim < 0 ? "" : " on dim " + std::to_string(dim)));
  }
}

RowMap rows_from(int64_t total, int64_t begin, int64_t count) {
  RowMap rows(static_cast<size_t>(total), kNoRow);
  for (int64_t i = 0; i < count; ++i) rows[begin + i] = i;
  return rows;
}

Movement cat_movement(const Call& call) {
  int first = 0;
  while (first + 1 < call.input_count() && is_skipped(call, first)) ++first;
  require(call.input_count() > 0, "the list of tensors is empty");
  const TensorView like = call.input(first);
  require(like.ndim() > 0, "a 0-dim tensor cannot be joined; stack gives it a dim");
  const int dim = joined_dim(call, like.ndim());
  Movement movement;
  for (int d = 0; d < like.ndim(); ++d) movement.shape.push_back(call.global_size(false, first, d));
  int64_t total = 0;
  for (int slot = 0; slot < call.input_count(); ++slot) {
    if (slot != first && is_skipped(call, slot)) continue;
    require_alike(call, first, slot, dim);
    total += call.global_size(false, slot, dim);
  }
  movement.shape[dim] = total;
  int64_t begin = 0;
  for (int slot = 0; slot < call.input_count(); ++slot) {
    if (slot != first && is_skipped(call, slot)) continue;
    const int64_t count = call.global_size(false, slot, dim);
    Source source = whole_source(call, slot);
    source.dims[dim] = rows_of(call, slot, dim, rows_from(total, begin, count));
    movement.sources.push_back(std::move(source));
    begin += count;
  }
  for (int slot = 0; slot < call.input_count(); ++slot) {
    if (call.input(slot).element_count() == 0) movement.unread.push_back(slot);
  }
  return movement;
}

Movement stack_movement(const Call& call) {
  require(call.input_count() > 0, "the list of tensors is empty");
  const int ndim = call.input(0).ndim(), count = call.input_count();
  const int dim = joined_dim(call, ndim + 1);
  Movement movement;
  for (int d = 0; d < ndim; ++d) movement.shape.push_back(call.global_size(false, 0, d));
  movement.shape.insert(movement.shape.begin() + dim, count);
  for (int slot = 0; slot < count; ++slot) {
    require_alike(call, 0, slot, -1);
    Source source = whole_source(call, slot);
    source.dims.insert(source.dims.begin() + dim,
                       rows_of(call, slot, -1, rows_from(count, slot, 1)));
    movement.sources.push_back(std::move(source));
  }
  return movement;
}

// An input of another dtype is converted before it moves.
void run_join(const Call& call, MovementFn movement) {
  const DType dtype = call.output().dtype();
  for (const Source& source : movement(call).sources) {
    const TensorView in = call.input(source.slot);
    if (in.dtype() == dtype) {
      run_source(call, source, box_of(in));
      continue;
    }
    Shape strides(static_cast<size_t>(in.ndim()), 1);
    for (int d = in.ndim() - 1; d > 0; --d)
      strides[d - 1] = strides[d] * std::max<int64_t>(in.size(d), 1);
    std::vector<std::byte> dense(static_cast<size_t>(in.element_count() * size_of(dtype)));
    convert_dense(in, dtype, dense.data());
    run_source(call, source, {dense.data(), size_of(dtype), shape_of(in), strides});
  }
}

// Partials of the list as a whole that survive promotion. One that cannot be partial stays the same
// on all ranks, which is a split of itself for averages, max and min.
void joined_partials(const Call& call, RuleSink& rules, MovementFn movement) {
  const DType dtype = call.output().dtype();
  for (const auto& [out, same] : kIdentity) {
    std::vector<Placement> inputs;
    RuleOptions options;
    bool any = false, all = true;
    for (const TensorView& tensor : call.tensors("tensors")) {
      const std::string_view kind = kind_before_cast(out, tensor.dtype(), dtype);
      const bool passes = !kind.empty() && is_legal_partial(kind, tensor.dtype());
      any = any || passes;
      all = all && (passes || out == "avg" || out == "max" || out == "min");
      inputs.push_back(passes ? partial(kind) : replicate());
      options.flags |= cast_flags(out, tensor.dtype(), dtype);
    }
    if (any && all)
      add_with_unread(call, rules, partial(out), inputs, movement(call).unread, options);
  }
}

OpBuilder& declare_join(Registrar& r, std::string_view schema, MovementFn movement) {
  return declare_movement(r, schema, movement)
      .infer([movement](const Call& call, OutputSink& outputs) {
        outputs.add(joined_dtype(call), local_shape(call, movement(call)));
      })
      .rules(
          [movement](const Call& call, RuleSink& rules) { joined_partials(call, rules, movement); })
      .compute(kAllDTypes, [movement](const Call& call, const onedim_execution_t&) {
        run_join(call, movement);
      });
}

}  // namespace

void declare_joins(Registrar& r) {
  declare_join(r, "cat(Tensor[] tensors, int dim=0) -> Tensor", cat_movement)
      .summary("tensors one behind the other along one dim")
      .out("cat.out")
      .samples({"[f64[5,7]; f64[2,7]]", "[f32[4,3]; f32[4,1]; f32[4,2]]; dim=1",
                "[i64[3,1,2]; i64[3,5,2]]; dim=-2", "[bool[6]; bool[3]]", "[f64[5]; f64[0]]",
                "[c64[4,2]]; dim=1", "[f32[3,2]; f64[3,4]]; dim=1", "[bf16[2,3]; i32[4,3]]"});
  declare_join(r, "stack(Tensor[] tensors, int dim=0) -> Tensor", stack_movement)
      .summary("tensors of one shape along a new dim")
      .out("stack.out")
      .samples({"[f64[5,7]; f64[5,7]]", "[f32[4]; f32[4]; f32[4]]; dim=1",
                "[i64[3,1]; i64[3,1]]; dim=-1", "[bool[]; bool[]]", "[c64[4,2]]; dim=1",
                "[f16[3]; f16[3]]; dim=-2"});
}

}  // namespace shape
