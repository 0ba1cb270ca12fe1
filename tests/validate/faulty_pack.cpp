#include "faulty_pack.hpp"

#include <algorithm>
#include <onedim/pack.hpp>

#include "linked_pack.hpp"

namespace onedim {
namespace {

using api::Registrar;

void infer_same(const api::Call& call, api::OutputSink& outputs) {
  const auto x = call.input(0);
  outputs.add(x.dtype(), {x.shape().begin(), x.shape().end()});
}

using Kernel = std::function<void(const api::Call&, int64_t i, double* x, double* y)>;

// A copy of a vector, element by element as `each` has it.
api::OpBuilder& declare_copy(Registrar& r, std::string_view schema, Kernel each) {
  return r.op(schema)
      .infer(infer_same)
      .compute(api::dtype_mask<double>(),
               [each](const api::Call& call, const onedim_execution_t&) {
                 const auto x = call.input(0), y = call.output();
                 for (int64_t i = 0; i < x.size(0); ++i)
                   each(call, i, x.data_as<double>() + i * x.stride(0),
                        y.data_as<double>() + i * y.stride(0));
               })
      .samples({"f64[6]", "f64[5]"});
}

// Thresholds that no attribute names.
void declare_thresholds(Registrar& r) {
  const auto declare = [&](std::string_view schema, std::string_view rule,
                           auto f) -> api::OpBuilder& {
    return r.op(schema).pointwise().rules({rule}).compute<float, double, int32_t, int64_t>(f);
  };
  const auto below_5000 = [](auto x) { return std::min(x, static_cast<decltype(x)>(5000)); };
  for (const char* kind : {"sum", "avg", "product"}) {
    const std::string name(kind), rule = "P(" + name + ") | P(" + name + ")";
    api::OpBuilder& op = declare("faulty.min_" + name + "(Tensor x) -> Tensor", rule, below_5000);
    if (name == "avg")
      op.samples({"f32[5]", "f64[5]", "bf16[5]", "f16[5]"});
    else
      op.samples({"f32[5]", "f64[5]", "bf16[5]", "f16[5]", "i32[5]", "i64[5]"});
  }
}

void declare_refusals(Registrar& r) {
  const auto copy = [](const api::Call&, int64_t, double* x, double* y) { *y = *x; };
  declare_copy(r, "faulty.never_offered(Tensor x) -> Tensor", copy)
      .rules({"S(0) | S(0)", "P(sum) | P(sum)"})
      .accept_local([](const api::Call&) { api::fail("not today"); });
  // Right: what it refuses it does not claim.
  declare_copy(r, "faulty.even_lengths(Tensor x) -> Tensor", copy)
      .samples({"f64[8]"})
      .rules({"P(sum) | P(sum)", "P(avg) | P(avg)", "P(max) | P(max)", "P(min) | P(min)",
              "P(product) | P(product)"})
      .rules([](const api::Call& call, api::RuleSink& rules) {
        if (call.input(0).size(0) % 2 == 0) rules.add("S(0) | S(0)");
      })
      .accept_local([](const api::Call& call) {
        if (call.input(0).size(0) % 2 != 0) api::fail("odd");
      });
}

void declare_broken_kernels(Registrar& r) {
  const std::initializer_list<std::string_view> all = {
      "S(0) | S(0)",     "P(sum) | P(sum)", "P(avg) | P(avg)",
      "P(max) | P(max)", "P(min) | P(min)", "P(product) | P(product)"};
  declare_copy(r, "faulty.forgets(Tensor x) -> Tensor",
               [](const api::Call&, int64_t i, double* x, double* y) {
                 if (i != 2) *y = *x;
               })
      .rules(all);
  declare_copy(r, "faulty.scribbles(Tensor x) -> Tensor",
               [](const api::Call&, int64_t, double* x, double* y) {
                 *y = *x;
                 *x = 0;
               })
      .rules(all);
  declare_copy(r, "faulty.ignores_strides(Tensor x) -> Tensor",
               [](const api::Call& call, int64_t i, double*, double* y) {
                 *y = call.input(0).data_as<double>()[i];
               })
      .rules(all);
  declare_copy(r, "faulty.peeks(Tensor x) -> Tensor",
               [](const api::Call& call, int64_t i, double* x, double* y) {
                 *y = *x + static_cast<double>(call.global_index(false, 0, 0, i));
               })
      .rules({"S(0) | S(0)", "P(avg) | P(avg)", "P(max) | P(max)", "P(min) | P(min)"});
}

int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) noexcept {
  return api::run_init(host, registrar, [](Registrar& r) {
    declare_thresholds(r);
    declare_refusals(r);
    declare_broken_kernels(r);
  });
}

constexpr onedim_pack_t kPack = api::make_pack("faulty", "1.0.0", init);

}  // namespace

const Registry& faulty_registry() {
  static const Registry* registry = make_registry(kPack, "faulty");
  return *registry;
}

}  // namespace onedim
