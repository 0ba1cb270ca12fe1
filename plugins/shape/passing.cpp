// Ops under which every index stays where it is, y[i] = x[i]: any shard of any dim passes, and
// every partial kind that a cast lets through. copy reads only the shape of its first input.
//   copy f32[4,3], f64[3]: S*(1) | S*(1), S*(0);  P(sum) | P(max), P(sum)

#include "box.hpp"
#include "casts.hpp"
#include "families.hpp"
#include "view_strides.hpp"

namespace shape {
namespace {

void same_dims_rules(const Call& call, RuleSink& rules) {
  kept_dims_rules(call, rules, first_dims(call.input(0).ndim()));
}

void copy_whole(const Call& call, const onedim_execution_t&) {
  copy_box(box_of(call.input(0)), box_of(call.output()));
}

void infer_alias(const Call& call, OutputSink& outputs) {
  const TensorView self = call.input(0);
  outputs.add(shared_view(self, shape_of(self), strides_of(self)));
}

// Row-major strides if asked, else the order in memory that the input has; channels-last formats
// need four or five dims.
Shape strides_in_format(const Call& call) {
  const TensorView self = call.input(0);
  const auto format = call.attribute<std::optional<std::string_view>>("memory_format");
  if (!format || *format == "preserve_format") return dense_like(shape_of(self), strides_of(self));
  if (*format == "contiguous_format") return row_major_strides(shape_of(self));
  const int ndim = *format == "channels_last" ? 4 : *format == "channels_last_3d" ? 5 : -1;
  if (ndim < 0)
    fail("memory_format is \"" + std::string(*format) +
         "\", expected contiguous_format, preserve_format, channels_last or channels_last_3d");
  if (self.ndim() != ndim)
    fail(std::string(*format) + " needs a tensor of " + std::to_string(ndim) + " dims");
  Shape outer_to_inner = shape_of(self);  // the channel dim goes last
  std::rotate(outer_to_inner.begin() + 1, outer_to_inner.begin() + 2, outer_to_inner.end());
  Shape strides = row_major_strides(outer_to_inner);
  std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
  return strides;
}

OpBuilder& declare_same(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .rules(same_dims_rules)
      .families(passes_all("self"))
      .samples({"f32[5,7]", "f64[3,1,4]", "i64[6]", "bool[2,5]", "c64[4,3]", "bf16[7]", "u8[]"});
}

void declare_copies(Registrar& r) {
  declare_same(r, "alias(Tensor(a) self) -> Tensor(a)")
      .summary("self")
      .infer(infer_alias)
      .compute(kAllDTypes, no_work);
  declare_same(r, "detach(Tensor(a) self) -> Tensor(a)")
      .summary("self without its history of gradients")
      .infer(infer_alias)
      .compute(kAllDTypes, no_work);
  declare_same(r, "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")
      .summary("a copy of self")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.input(0);
        outputs.add({self.dtype(), shape_of(self), strides_in_format(call), -1, 0});
      })
      .compute(kAllDTypes, copy_whole);
  declare_same(r,
               "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> "
               "Tensor(a)")
      .summary("self if its memory is in that order, else a copy that is")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.input(0);
        const auto format = call.attribute<std::string_view>("memory_format");
        require(format != "preserve_format", "contiguous needs an order, not preserve_format");
        const Shape strides = strides_in_format(call);
        bool is_there = true;
        for (int dim = 0; dim < self.ndim(); ++dim)
          is_there = is_there && (self.size(dim) == 1 || self.stride(dim) == strides[dim]);
        if (is_there || self.element_count() == 0)
          outputs.add(shared_view(self, shape_of(self), strides_of(self)));
        else
          outputs.add({self.dtype(), shape_of(self), strides, -1, 0});
      })
      .compute(kAllDTypes, copy_whole);
}

// The values of self do not matter; those of src are cast.
void copy_partials(const Call& call, RuleSink& rules) {
  const DType from = call.tensor("src").dtype(), to = call.tensor("self").dtype();
  constexpr int kSelf[] = {0};
  add_with_unread(call, rules, replicate(), {replicate(), replicate()}, kSelf);
  for (const auto& [out, same] : kIdentity) {
    const std::string_view kind = kind_before_cast(out, from, to);
    if (kind.empty() || !is_legal_partial(out, to)) continue;
    add_with_unread(call, rules, partial(out), {replicate(), partial(kind)}, kSelf,
                    {cast_flags(out, from, to), 0, {}});
  }
}

void declare_copy(Registrar& r) {
  r.op("copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor")
      .summary("src broadcast to self's shape and cast to its dtype")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self"), src = call.tensor("src");
        if (broadcast(shape_of(self), src.shape()) != shape_of(self)) {
          fail("src of shape " + format_shape(src.shape()) +
               " does not broadcast to self of shape " + format_shape(self.shape()));
        }
        outputs.add(self.dtype(), shape_of(self));
      })
      .rules(pointwise_rules)
      .rules(copy_partials)
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 convert(call.tensor("src"), call.output());
               })
      .in_place()
      .samples({"f64[5,7]; f64[5,7]", "f32[4,3]; f32[3]", "i64[3,4]; f32[3,1]", "f32[6]; c64[6]",
                "u8[4,2]; bool[4,2]", "f16[5]; f32[1]", "f32[2,3]; bool[2,3]", "i32[4]; i64[4]"});
}

}  // namespace

void declare_passing(Registrar& r) {
  declare_copies(r);
  declare_copy(r);
}

}  // namespace shape
