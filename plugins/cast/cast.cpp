// Casts: every element of self in another dtype. Which partials pass depends on the pair of dtypes
// alone (onedim/cast_passes.hpp): a cast between floats is linear but for its rounding, one to
// integers only monotone, one to bool the question whether an element differs from zero.
//   _to_copy(f32[4,6], i64): S(0) | S(0), P(max) | P(max); no P(sum) | P(sum): 0.5 + 0.5 is 1, but
//   0 + 0 is 0

#include <onedim/cast_passes.hpp>
#include <onedim/memory_format.hpp>
#include <onedim/pack.hpp>

namespace {

using namespace onedim::api;

DType target_dtype(const Call& call) {
  return call.has_attribute("dtype") ? call.attribute<DType>("dtype") : call.input(0).dtype();
}

Output cast_output(const Call& call) {
  const TensorView self = call.input(0);
  Output out{target_dtype(call), shape_of(self), {}, -1, 0};
  out.strides = like_strides(call, self, out.shape);
  return out;
}

void cast_rules(const Call& call, RuleSink& rules) {
  const DType from = call.input(0).dtype(), to = call.output().dtype();
  for (const Pass& pass : cast_passes(from, to)) {
    if (!pass.in.empty() && !is_legal_partial(pass.in, from)) continue;
    if (!is_legal_partial(pass.out, to)) continue;
    RuleOptions options;
    options.flags = pass.to_rounding ? uint64_t{ONEDIM_RULE_TO_ROUNDING} : 0;
    const Placement out = partial(pass.out);
    const Placement in = pass.in.empty() ? replicate() : partial(pass.in);
    rules.add(std::span(&out, 1), std::span(&in, 1), options);
  }
}

void compute_cast(const Call& call, const onedim_execution_t&) {
  Operand self;
  self.tensor = call.input(0);
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      self.tensor.dtype(), [&]<typename C>(C) {
        map_elements<C>(call.output(), std::array{self}, [](C x) { return x; });
      });
}

OpBuilder& declare_cast(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .infer([](const Call& call, OutputSink& outputs) { outputs.add(cast_output(call)); })
      .rules(pointwise_rules)
      .rules(cast_rules)
      .compute(kAllDTypes, compute_cast)
      .cost([](const Call& call, onedim_cost_t& cost) { elementwise_cost(call, 0, cost); });
}

// Pairs of each kind: to and from bool, between integers, widening and narrowing, and so on.
const std::initializer_list<std::string_view> kSamples = {
    "f32[5,7]; dtype=bf16",   "f64[4,1,6]; dtype=f32",    "bf16[5,3]; dtype=f32",
    "f32[7]; dtype=i64",      "f64[5,2]; dtype=i32",      "f32[6]; dtype=bool",
    "i64[4,3]; dtype=bool",   "u8[7]; dtype=bool",        "bool[5,3]; dtype=f32",
    "bool[6]; dtype=i64",     "bool[5]; dtype=c64",       "i32[5]; dtype=i64",
    "i64[7]; dtype=i32",      "i64[5]; dtype=u8",         "u8[5]:values(3,120,130,250); dtype=i8",
    "f32[5]; dtype=u8",       "i8[5]; dtype=f8e4m3fn",    "i8[6]; dtype=u8",
    "u8[4]; dtype=i16",       "i64[5,3]; dtype=f64",      "i32[7]; dtype=f32",
    "i16[5]; dtype=bf16",     "f32[5]; dtype=c64",        "c64[4,3]; dtype=f32",
    "c128[5]; dtype=c64",     "c64[5]; dtype=i32",        "c64[5]; dtype=bool",
    "f16[6]; dtype=f64",      "f64[5]; dtype=f16",        "f16[5]; dtype=bf16",
    "f32[6]; dtype=f8e4m3fn", "bf16[5]; dtype=f8e5m2",    "f8e4m3fn[6]; dtype=f32",
    "f8e5m2[5]; dtype=bf16",  "f8e4m3fn[5]; dtype=i64",   "f32[5,7]; dtype=f32",
    "i8[5]; dtype=f16",       "f32[5]; dtype=i8",         "f8e5m2[5]; dtype=bool",
    "i64[5]; dtype=f8e5m2",   "f8e4m3fn[5]; dtype=f8e5m2"};

}  // namespace

ONEDIM_PACK("cast", "1.0.0", [](Registrar& r) {
  declare_cast(r,
               "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
               "device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? "
               "memory_format=None) -> Tensor")
      .summary("a copy of self, in another dtype if one is given")
      .samples(kSamples)
      .samples({"f32[5,7]", "i64[4,1,3]"});
  r.variant(
      "_to_copy.out(Tensor self, *, bool non_blocking=False, MemoryFormat? "
      "memory_format=None, Tensor(a!) out) -> Tensor(a!)",
      "_to_copy");
  declare_cast(r, "prims.convert_element_type(Tensor a, ScalarType dtype) -> Tensor")
      .summary("a in another dtype")
      .samples(kSamples);
  declare_cast(r,
               "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool "
               "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)")
      .summary("self in another dtype; self itself where it has that dtype already")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.input(0);
        Output out = cast_output(call);
        if (out.dtype == self.dtype() && !call.attribute<bool>("copy")) {
          out.strides.assign(self.strides().begin(), self.strides().end());
          out.view_of_input = 0;
        }
        outputs.add(out);
      })
      .samples(kSamples)
      .samples({"f32[5,7]; dtype=f32; copy=true"});
});
