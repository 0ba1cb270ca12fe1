#include "small_pack.hpp"

#include <cmath>
#include <onedim/pack.hpp>

#include "core/pack/staging.hpp"

namespace onedim {
namespace {

using api::Registrar;

template <typename T>
T plus(T x, T y) {
  return x + y;
}

void declare_sums(Registrar& r) {
  const auto add = [](auto x, auto y) { return x + y; };
  r.op("small.add(Tensor x, Tensor y) -> Tensor")
      .pointwise()
      .rules({"P(sum) | P(sum), P(sum)", "P(avg) | P(avg), P(avg)", "P(max) | P(max), R",
              "P(max) | R, P(max)", "P(min) | P(min), R", "P(min) | R, P(min)"})
      .compute<float, double, int64_t>(add)
      .samples({"f64[4,6]; f64[4,6]", "f64[5,7]; f64[5,7]", "f32[4,1]; f32[1,6]",
                "i64[5]; i64[3,5]", "f64[0,3]; f64[3]"});
  r.op("small.add_wrong(Tensor x, Tensor y) -> Tensor")
      .pointwise()
      .rules({"P(sum) | P(sum), P(sum)", "P(avg) | P(avg), P(avg)", "P(max) | P(max), R",
              "P(max) | R, P(max)", "P(min) | P(min), R", "P(min) | R, P(min)",
              "P(max) | P(max), P(max)"})
      .compute<double>(add)
      .samples({"f64[4,6]; f64[4,6]"});
  r.op("small.add_missing(Tensor x, Tensor y) -> Tensor")
      .pointwise()
      .rules({"P(sum) | P(sum), P(sum)", "P(max) | P(max), R", "P(max) | R, P(max)",
              "P(min) | P(min), R", "P(min) | R, P(min)"})
      .compute<double>(add)
      .samples({"f64[4,6]; f64[4,6]"});
}

void declare_functions(Registrar& r) {
  r.op("small.log(Tensor x) -> Tensor")
      .pointwise()
      .rules({"P(min) | P(min)"})
      .compute<float, double>([](auto x) { return std::log(x); })
      .samples({"f64[4,6]:positive", "f32[5,7]:positive"});
  r.op("small.exp(Tensor x) -> Tensor")
      .pointwise()
      .rules({"P(min) | P(min)", "P(max) | P(max)", "P(product) | P(sum)"})
      .compute<float, double>([](auto x) { return std::exp(x); })
      .samples({"f64[4,6]", "f32[5,7]", "bf16[3,4]", "f16[3,4]"});
  r.op("small.is_finite(Tensor x) -> Tensor")
      .pointwise(api::Promotion::kComparison)
      .rules({"P(min) | P(sum)", "P(min) | P(avg)", "P(min) | P(product)"})
      .compute<float, double>([](auto x) { return std::isfinite(x); })
      .samples({"f64[4,6]:nonfinite"});
}

void declare_products(Registrar& r) {
  const auto matmul = [](const api::Call& call, const onedim_execution_t&) {
    const auto x = call.input(0), w = call.input(1), out = call.output();
    for (int64_t i = 0; i < x.shape()[0]; ++i) {
      for (int64_t j = 0; j < w.shape()[1]; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < x.shape()[1]; ++k) {
          sum += static_cast<const double*>(x.data())[i * x.shape()[1] + k] *
                 static_cast<const double*>(w.data())[k * w.shape()[1] + j];
        }
        static_cast<double*>(out.data())[i * w.shape()[1] + j] = sum;
      }
    }
  };
  r.op("small.mm(Tensor x, Tensor w) -> Tensor")
      .einsum("mk,kn->mn")
      .compute(api::dtype_mask<double>(), matmul)
      .samples({"f64[4,6]; f64[6,12]", "f64[5,7]; f64[7,3]", "f64[4,12]; f64[12,1]"});
}

int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) noexcept {
  return api::run_init(host, registrar, [](Registrar& r) {
    declare_sums(r);
    declare_functions(r);
    declare_products(r);
  });
}

constexpr onedim_pack_t kPack = api::make_pack("small", "1.0.0", init);

Registry* make_registry() {
  auto* registry = new Registry;
  Result<StagedPack> staged = stage(kPack, "small");
  if (!staged.ok()) throw std::runtime_error(staged.status().ToString());
  const Status status = registry->commit(*std::move(staged));
  if (!status.ok()) throw std::runtime_error(status.ToString());
  for (const std::string& problem : registry->resolve()) throw std::runtime_error(problem);
  return registry;
}

}  // namespace

const Registry& small_registry() {
  static const Registry* registry = make_registry();
  return *registry;
}

}  // namespace onedim
