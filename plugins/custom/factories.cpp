// Ops whose attributes are sizes, random numbers, and an op without output. A filled tensor is the
// same everywhere, so any part of it is one of that size. Noise is drawn by global index, the same
// on every rank, and shifts what it is added to, so it passes means, maxima and minima, not sums.
// That all elements are finite is true if it is on every rank, but finite parts may have an
// infinite sum.
//   custom.expand f64[4,1] to [4,6]: S(0) | S(0);  S(1) | R;  P(sum) | P(sum).  custom.noise
//   f64[5,7]: S(0) | S(0);  P(max) | P(max);  no P(sum) | P(sum)

#include <cmath>

#include "families.hpp"

namespace custom {
namespace {

void declare_fill(Registrar& r) {
  r.op("custom.fill(int[] size, float value, *, ScalarType? dtype=None) -> Tensor")
      .summary("a tensor of `size` filled with `value`; local calls see local sizes")
      .size_attribute("size")
      .infer([](const Call& call, OutputSink& outputs) {
        const auto size = call.attribute<std::vector<int64_t>>("size");
        require_sizes(size, "size");
        outputs.add(call.attribute<std::optional<DType>>("dtype").value_or(DType::kF32), size);
      })
      .rules([](const Call& call, RuleSink& rules) {
        for (int dim = 0; dim < call.output().ndim(); ++dim) {
          const Placement out = any_shard(dim);
          rules.add(std::span(&out, 1), {});
        }
      })
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 const std::array in = {operand(call, "value")};
                 map_elements<double>(call.output(), in, [](double x) { return x; });
               })
      .samples({"size=[5,7]; value=1.5", "size=[4]; value=-2.0; dtype=f64",
                "size=[3,1,4]; value=3.0; dtype=i64", "size=[6,2]; value=0.25; dtype=bf16",
                "size=[]; value=7.0"});
}

// A view; -1 keeps a size. Only dims that are not expanded may be sharded.
void declare_expand(Registrar& r) {
  r.op("custom.expand(Tensor(a) self, int[] size) -> Tensor(a)")
      .summary("self broadcast to `size` without a copy; -1 keeps a size")
      .size_attribute("size")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self");
        Output out{
            self.dtype(), call.attribute<std::vector<int64_t>>("size"), {}, call.slot("self"), 0};
        const int added = static_cast<int>(out.shape.size()) - self.ndim();
        require(added >= 0, "size must not have fewer dims than self");
        out.strides.resize(out.shape.size(), 0);
        for (int dim = 0; dim < self.ndim(); ++dim) {
          int64_t& size = out.shape[added + dim];
          if (size == -1) size = self.size(dim);
          require(size == self.size(dim) || self.size(dim) == 1,
                  "only dims of size 1 can be expanded");
          out.strides[added + dim] = size == self.size(dim) ? self.stride(dim) : 0;
        }
        for (int64_t size : out.shape) require(size >= 0, "a new dim needs a size");
        outputs.add(out);
      })
      .rules([](const Call& call, RuleSink& rules) {
        const TensorView self = call.tensor("self"), out = call.output();
        const int added = out.ndim() - self.ndim();
        for (int dim = 0; dim < out.ndim(); ++dim) {
          const bool kept = dim >= added && self.size(dim - added) == out.size(dim);
          const Placement to = any_shard(dim), from = kept ? any_shard(dim - added) : replicate();
          rules.add(std::span(&to, 1), std::span(&from, 1));
        }
      })
      .rules({"P(sum) | P(sum)", "P(avg) | P(avg)", "P(max) | P(max)", "P(min) | P(min)",
              "P(product) | P(product)"})
      .compute(kAllDTypes, [](const Call&, const onedim_execution_t&) {})
      .samples({"f32[5,7]; size=[-1,7]", "f64[4,1]; size=[4,6]", "i64[5]; size=[3,-1]",
                "bool[1,6]; size=[2,5,6]", "f64[1]; size=[4]"});
}

// Each element draws by its global index, so every layout gives the same values.
void declare_noise(Registrar& r) {
  r.op("custom.noise(Tensor self, float scale=1.0) -> Tensor")
      .summary("self + scale * u with u uniform in [0, 1), the same under every layout")
      .position_aware()
      .flags(ONEDIM_OP_RANDOM)
      .infer([](const Call& call, OutputSink& outputs) {
        outputs.add(call.tensor("self").dtype(), shape_of(call.tensor("self")));
      })
      .rules(pointwise_rules)
      .rules({"P(avg) | P(avg)", "P(max) | P(max)", "P(min) | P(min)"})
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) {
                 const TensorView out = call.output();
                 std::vector<double> values = load_dense<double>(call.tensor("self"));
                 const double scale = call.attribute<double>("scale");
                 Shape index(static_cast<size_t>(out.ndim()), 0);
                 for (double& value : values) {
                   uint64_t linear = 0;
                   for (int dim = 0; dim < out.ndim(); ++dim) {
                     const int64_t global = call.global_index(true, 0, dim, index[dim]);
                     linear = linear * call.global_size(true, 0, dim) + global;
                   }
                   value += scale * philox_uniform(call.seed(), call.call_id(), linear);
                   for (int dim = out.ndim() - 1; dim >= 0 && ++index[dim] == out.size(dim); --dim)
                     index[dim] = 0;
                 }
                 store_dense(values.data(), out);
               })
      .samples({"f64[5,7]", "f32[4,3]; scale=0.5", "f64[3,1,2]", "f64[6]; scale=-2.0", "f32[2,5]"});
}

void declare_check(Registrar& r) {
  r.op("custom.require_finite(Tensor self) -> ()")
      .summary("fails if an element of self is NaN or infinite")
      .infer([](const Call&, OutputSink&) {})
      .rules([](const Call& call, RuleSink& rules) {
        for (int dim = 0; dim < call.input(0).ndim(); ++dim) {
          const Placement from = any_shard(dim);
          rules.add({}, std::span(&from, 1));
        }
      })
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) {
                 for (double value : load_dense<double>(call.input(0))) {
                   require(std::isfinite(value), "self has an element that is not finite");
                 }
               })
      .samples({"f64[5,7]", "f32[4]", "f64[3,1,2]", "bf16[6,2]", "f16[5]"});
}

}  // namespace

void declare_factories(Registrar& r) {
  declare_fill(r);
  declare_expand(r);
  declare_noise(r);
  declare_check(r);
}

}  // namespace custom
