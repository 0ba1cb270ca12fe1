#include "small_pack.hpp"

#include <cmath>
#include <onedim/pack.hpp>

#include "linked_pack.hpp"

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

// Ops with several findings of which one says the others too.
void declare_families(Registrar& r) {
  r.op("small.maximum_missing(Tensor x, Tensor y) -> Tensor")
      .pointwise()
      .rules({"P(min) | P(min), R", "P(min) | R, P(min)"})
      .compute<double>([](double x, double y) { return x > y ? x : y; })
      .samples({"f64[4,6]; f64[4,6]"});
  r.op("small.sub_wrong(Tensor x, Tensor y) -> Tensor")
      .pointwise()
      .rules({"P(max) | P(max), P(max)"})
      .compute<double>([](double x, double y) { return x - y; })
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

// Means of local tensors, that know nothing of the others.
void declare_means(Registrar& r) {
  const auto infer = [](const api::Call& call, api::OutputSink& outputs) {
    outputs.add(call.input(0).dtype(), {});
  };
  const auto mean = [](const api::Call& call, const onedim_execution_t&) {
    const auto x = call.input(0);
    double sum = 0;
    for (int64_t i = 0; i < x.size(0); ++i) sum += x.data_as<double>()[i * x.stride(0)];
    *static_cast<double*>(call.output().data()) = sum / static_cast<double>(x.shape()[0]);
  };
  const auto declare = [&](std::string_view schema) -> api::OpBuilder& {
    return r.op(schema)
        .infer(infer)
        .compute(api::dtype_mask<double>(), mean)
        .samples({"f64[4]", "f64[5]", "f64[7]"});
  };
  const auto even = [](const api::Call&, api::RuleSink& rules) {
    rules.add("P(avg) | S(0)", ONEDIM_RULE_EVEN_ONLY);
  };
  declare("small.blind_mean(Tensor x) -> Tensor")
      .rules({"P(avg) | P(avg)", "P(sum) | P(sum)"})
      .rules(even);
  declare("small.mean_too_wide(Tensor x) -> Tensor")
      .rules({"P(avg) | P(avg)", "P(sum) | P(sum)", "P(avg) | S(0)"});
}

void declare_products(Registrar& r) {
  const auto matmul = [](const api::Call& call, const onedim_execution_t&) {
    const auto x = call.input(0), w = call.input(1), out = call.output();
    for (int64_t i = 0; i < x.shape()[0]; ++i) {
      for (int64_t j = 0; j < w.shape()[1]; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < x.shape()[1]; ++k) {
          sum += x.data_as<double>()[i * x.stride(0) + k * x.stride(1)] *
                 w.data_as<double>()[k * w.stride(0) + j * w.stride(1)];
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

// Ops that end or hold up the process that runs them, or refuse to run.
void declare_faults(Registrar& r) {
  const auto declare = [&](std::string_view schema, auto f) -> api::OpBuilder& {
    return r.op(schema).pointwise().compute<double>(f).samples({"f64[4]"});
  };
  declare("small.refuses(Tensor x) -> Tensor",
          [](double x) { return x < 100 ? (api::fail("no such luck"), x) : x; });
}

// A copy whose shards are said to need even sizes.
void declare_narrow(Registrar& r) {
  r.op("small.narrow(Tensor x) -> Tensor")
      .infer([](const api::Call& call, api::OutputSink& outputs) {
        outputs.add(call.input(0).dtype(), {call.input(0).size(0)});
      })
      .rules({"P(sum) | P(sum)", "P(avg) | P(avg)", "P(max) | P(max)", "P(min) | P(min)",
              "P(product) | P(product)"})
      .rules([](const api::Call&, api::RuleSink& rules) {
        rules.add("S*(0) | S*(0)", ONEDIM_RULE_EVEN_ONLY);
      })
      .compute(api::dtype_mask<double>(),
               [](const api::Call& call, const onedim_execution_t&) {
                 const auto x = call.input(0), y = call.output();
                 for (int64_t i = 0; i < x.size(0); ++i)
                   y.data_as<double>()[i * y.stride(0)] = x.data_as<double>()[i * x.stride(0)];
               })
      .samples({"f64[5]"});
}

int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) noexcept {
  return api::run_init(host, registrar, [](Registrar& r) {
    declare_sums(r);
    declare_families(r);
    declare_functions(r);
    declare_products(r);
    declare_means(r);
    declare_faults(r);
    declare_narrow(r);
  });
}

constexpr onedim_pack_t kPack = api::make_pack("small", "1.0.0", init);

}  // namespace

const Registry& small_registry() {
  static const Registry* registry = make_registry(kPack, "small");
  return *registry;
}

}  // namespace onedim
