// Views that repeat dims of size 1, and add repeated ones in front, at stride 0. A dim that stays
// takes any shard; a repeated one may be sharded where the input is whole: each rank repeats as
// often as its shard is long.
//   expand f32[1,6] to [4,6]: S*(0) | R, S*(1) | S*(1)

#include "box.hpp"
#include "families.hpp"

namespace shape {
namespace {

Shape expanded_shape(const Call& call) {
  const TensorView self = call.input(0);
  Shape sizes = call.attribute<std::vector<int64_t>>("size");
  const int added = static_cast<int>(sizes.size()) - self.ndim();
  if (added < 0) {
    fail("size " + format_shape(sizes) + " has fewer dims than self of shape " +
         format_shape(self.shape()));
  }
  for (int dim = 0; dim < static_cast<int>(sizes.size()); ++dim) {
    const int own = dim - added;
    if (own >= 0 && sizes[dim] == -1) sizes[dim] = self.size(own);
    if (sizes[dim] < 0)
      fail("size " + format_shape(sizes) + " is negative at a dim that self does not have");
    if (own < 0 || self.size(own) == sizes[dim] || self.size(own) == 1) continue;
    fail("self of shape " + format_shape(self.shape()) + " does not expand to " +
         format_shape(sizes) + ", since only dims of size 1 do");
  }
  return sizes;
}

Shape expanded_strides(const TensorView& self, const Shape& sizes) {
  const int added = static_cast<int>(sizes.size()) - self.ndim();
  Shape strides(sizes.size(), 0);
  for (int dim = static_cast<int>(sizes.size()) - 1; dim >= 0; --dim) {
    const int own = dim - added;
    if (own >= 0 && self.size(own) == sizes[dim]) strides[dim] = self.stride(own);
    const bool is_new_unit = own < 0 && sizes[dim] == 1 && dim + 1 < static_cast<int>(sizes.size());
    if (is_new_unit) strides[dim] = sizes[dim + 1] * strides[dim + 1];
  }
  return strides;
}

OpBuilder& declare_expand(Registrar& r, std::string_view schema, bool is_view) {
  return r.op(schema)
      .size_attribute("size")
      .infer([is_view](const Call& call, OutputSink& outputs) {
        Shape sizes = expanded_shape(call);
        Shape strides = expanded_strides(call.input(0), sizes);
        if (is_view)
          outputs.add(shared_view(call.input(0), std::move(sizes), std::move(strides)));
        else
          outputs.add(call.input(0).dtype(), std::move(sizes));
      })
      .rules(pointwise_rules)
      .families(passes_all("self"))
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 Box from = box_of(call.input(0));
                 const Box to = box_of(call.output());
                 from.strides = expanded_strides(call.input(0), to.sizes);
                 from.sizes = to.sizes;
                 copy_box(from, to);
               })
      .samples({"f32[5,7]; size=[-1,7]", "f64[4,1]; size=[4,6]", "i64[5]; size=[3,-1]",
                "bool[1,6]; size=[2,5,6]", "f64[1]; size=[4]", "c64[3,1,2]; size=[3,5,2]",
                "bf16[]; size=[3]", "u8[2,1]; size=[2,1]"});
}

}  // namespace

void declare_expansions(Registrar& r) {
  declare_expand(r, "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
                 true)
      .summary("self broadcast to `size` without a copy; -1 keeps a size");
  declare_expand(r, "expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor",
                 false)
      .summary("a copy of self broadcast to `size`; -1 keeps a size")
      .out("expand_copy.out");
}

}  // namespace shape
