// Reshapes: the output has the input's elements in the same row-major order. A view needs strides
// that give this order (view_strides.cpp); reshape copies where there are none. Local calls see
// local sizes: the host rewrites `size`.
//   view f32[2,6,4] as f32[12,4]: S(2) is S(1), S(0) is S(0) where 2 divides, S(1) is SS(0,2).

#include "box.hpp"
#include "families.hpp"
#include "reshape_rules.hpp"
#include "view_strides.hpp"

namespace shape {
namespace {

enum class Result { kView, kCopy, kViewOrCopy };

Shape asked_shape(const Call& call, std::string_view attribute) {
  return resolved_size(call.attribute<std::vector<int64_t>>(attribute),
                       call.input(0).element_count());
}

void infer_reshape(const Call& call, OutputSink& outputs, std::string_view attribute, Result result,
                   bool needs_strides) {
  const TensorView self = call.input(0);
  Shape sizes = asked_shape(call, attribute);
  std::optional<Shape> strides = reshaped_strides(shape_of(self), strides_of(self), sizes);
  if (!strides && needs_strides) {
    fail("shape " + format_shape(sizes) + " is no view of shape " + format_shape(self.shape()) +
         " with strides " + format_shape(self.strides()) + "; use reshape, which copies");
  }
  if (result == Result::kCopy || !strides)
    outputs.add(self.dtype(), std::move(sizes));
  else
    outputs.add(shared_view(self, std::move(sizes), *std::move(strides)));
}

// Row-major order is walked on both sides: dims of the output inside a run of the input copy as
// boxes of the input's shape.
void copy_in_order(const Call& call) {
  const Box from = box_of(call.input(0)), to = box_of(call.output());
  if (const auto strides = reshaped_strides(to.sizes, to.strides, from.sizes)) {
    copy_box(from, {to.data, to.item, from.sizes, *strides});
    return;
  }
  std::vector<std::byte> dense(static_cast<size_t>(call.output().element_count() * to.item));
  copy_box(from, {dense.data(), to.item, from.sizes, row_major_strides(from.sizes)});
  copy_box({dense.data(), to.item, to.sizes, row_major_strides(to.sizes)}, to);
}

OpBuilder& declare_reshape(Registrar& r, std::string_view schema, std::string attribute,
                           Result result, bool needs_strides) {
  OpBuilder& op = r.op(schema);
  op.size_attribute(attribute)
      .infer([=](const Call& call, OutputSink& outputs) {
        infer_reshape(call, outputs, attribute, result, needs_strides);
      })
      .rules([](const Call& call, RuleSink& rules) {
        reshape_rules(rules, shape_of(call.input(0)), shape_of(call.output()));
      })
      .families(passes_all("self"))
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) { copy_in_order(call); });
  const auto sample = [&](std::string_view input, std::string_view sizes) {
    return std::string(input) + "; " + attribute + "=" + std::string(sizes);
  };
  return op.samples(
      [samples = std::vector<std::string>{
           sample("f64[4,6]", "[24]"), sample("f32[24]", "[4,6]"), sample("f64[2,3,4]", "[6,4]"),
           sample("bf16[12,2]", "[3,8]"), sample("i64[6,4]", "[2,3,-1]"),
           sample("f64[5,7]", "[-1]"), sample("f64[3,1,4]", "[1,3,4]"),
           sample("bool[4,6]", "[4,6,1]"), sample("c64[2,2,6]", "[4,2,3]"),
           sample("f16[12]", "[2,2,3]"), sample("i32[3,2,5]", "[3,10]"),
           sample("u8[6]", "[6]")}](SampleSink& sink) {
        for (const std::string& text : samples) sink.add(text);
      });
}

}  // namespace

void declare_reshapes(Registrar& r) {
  declare_reshape(r, "view(Tensor(a) self, SymInt[] size) -> Tensor(a)", "size", Result::kView,
                  true)
      .summary("self with another shape, the same elements in the same order, without a copy")
      .example("f32[4,6]; size=[24]");
  declare_reshape(r, "_unsafe_view(Tensor self, SymInt[] size) -> Tensor", "size", Result::kCopy,
                  true)
      .summary("view, whose result nobody may take for a view")
      .example("f32[4,6]; size=[24]");
  declare_reshape(r, "reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", "shape",
                  Result::kViewOrCopy, false)
      .summary("view where the strides allow one, else a copy")
      .example("f32[4,6]; shape=[24]");
  declare_reshape(r, "view_copy(Tensor self, SymInt[] size) -> Tensor", "size", Result::kCopy,
                  false)
      .summary("a copy of self with another shape")
      .example("f32[4,6]; size=[24]")
      .out("view_copy.out");
}

}  // namespace shape
