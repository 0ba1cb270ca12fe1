// A pack with two ops: an elementwise one and a product of matrices. Build it, drop mypack.so into
// a pack folder, and let `onedim validate` try its rules.

#include <onedim/pack.hpp>

namespace {

using namespace onedim::api;

// out[b,n] = sum over k of x[b,k] w[k,n]. Rules follow from the equation; the kernel sees local
// tensors.
void project(const Call& call, const onedim_execution_t&) {
  const TensorView x = call.tensor("x"), w = call.tensor("w"), out = call.output();
  const std::vector<double> a = load_dense<double>(x), b = load_dense<double>(w);
  const int64_t rows = x.size(0), inner = x.size(1), columns = w.size(1);
  std::vector<double> result(static_cast<size_t>(rows * columns), 0);
  for (int64_t i = 0; i < rows * columns; ++i) {
    for (int64_t k = 0; k < inner; ++k) {
      result[i] += a[i / columns * inner + k] * b[k * columns + i % columns];
    }
  }
  store_dense(result.data(), out);
}

}  // namespace

ONEDIM_PACK("mypack", "0.1.0", [](Registrar& r) {
  r.op("mypack.scaled_add(Tensor x, Tensor y, *, float alpha=1) -> Tensor")
      .summary("x + alpha * y")
      .pointwise()  // shape by broadcasting; every dim may be sharded
      .rules({"P(sum) | P(sum), P(sum)", "P(avg) | P(avg), P(avg)", "P(max) | P(max), R",
              "P(min) | P(min), R"})
      .rules([](const Call& call, RuleSink& rules) {  // these depend on the sign of alpha
        const bool up = call.attribute<double>("alpha") > 0;
        rules.add(up ? "P(max) | R, P(max)" : "P(min) | R, P(max)");
        rules.add(up ? "P(min) | R, P(min)" : "P(max) | R, P(min)");
      })
      .elementwise<2>(FloatTypes{},
                      [](const Call& call) {
                        const double alpha = call.attribute<double>("alpha");
                        return [alpha](auto x, auto y) {
                          return x + static_cast<decltype(y)>(alpha) * y;
                        };
                      })
      .samples({"f32[5,7]; f32[5,7]", "f64[4,1]; f64[4,6]; alpha=-2.0",
                "f32[6]; f32[3,1,6]; alpha=0.5", "bf16[4,3]; bf16[4,3]",
                "f64[5]; f64[5]; alpha=-0.5"});

  r.op("mypack.project(Tensor x, Tensor w) -> Tensor")
      .summary("matrix product")
      .einsum("bk,kn->bn")
      .compute(dtype_mask<float, double>(), project)
      .samples({"f32[5,7]; f32[7,3]", "f64[4,6]; f64[6,5]", "f32[3,8]; f32[8,4]",
                "f64[2,5]; f64[5,7]", "f32[6,4]; f32[4,2]"});
});
