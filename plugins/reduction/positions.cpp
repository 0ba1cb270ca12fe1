// argmax and argmin. A sharded reduced dim leaves the joint partial (value, index), of which the
// index is the output: each rank finds its best element at its global position.

#include "extremum.hpp"

namespace reduction {
namespace {

template <Extremum kWhich>
constexpr std::string_view kKind =
    kWhich == Extremum::kMax ? "reduction.argmax" : "reduction.argmin";

template <Extremum kWhich>
void declare_kind(Registrar& r) {
  declare_best<kWhich>(r, kKind<kWhich>, {"value", "index"})
      .outputs(1)
      .state([](const Call& call, OutputSink& states) {
        states.add(call.input(0).dtype(), shape_of(call.output()));
        states.add(DType::kI64, shape_of(call.output()));
      })
      .local([](const Call& call, States states) {
        with_compute_type<float, double, int64_t>(call.input(0).dtype(), [&]<typename C>(C) {
          store_state(states, find_best<kWhich, C>(call, reduced_dims(call)));
        });
      })
      .finish([](States states, States outputs) {
        store_dense(load_dense<int64_t>(TensorView(&states[1])).data(), TensorView(&outputs[0]));
      });
}

template <Extremum kWhich>
OpBuilder& declare(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .reduction(std::string(kKind<kWhich>), [](const Call&) { return DType::kI64; })
      // The maximum of the ranks' maxima stands at the lowest of the indices where they reach it.
      .rules([](const Call& call, RuleSink& rules) {
        if (call.input(0).ndim() == 0) return;
        const Placement out = partial(kKind<kWhich>);
        const Placement in = partial(kWhich == Extremum::kMax ? "max" : "min");
        rules.add(std::span(&out, 1), std::span(&in, 1));
      })
      .position_aware()
      .compute(
          kOrdered,
          [](const Call& call, const onedim_execution_t&) {
            const std::vector<bool> reduced = reduced_dims(call);
            require_elements(call, reduced);
            with_compute_type<float, double, int64_t>(call.input(0).dtype(), [&]<typename C>(C) {
              store_dense(find_best<kWhich, C>(call, reduced).indices.data(), call.output());
            });
          })
      .cost(reduction_cost)
      .samples({"f32[5,7]; dim=1", "f64[4,1,6]; dim=0", "f64[4,6]; dim=-2; keepdim=true",
                "f64[5,7]", "f32[3,2,4]", "i64[5,3]; dim=0", "i32[7]", "bf16[7,3]; dim=0"});
}

}  // namespace

void declare_positions(Registrar& r) {
  declare_kind<Extremum::kMax>(r);
  declare_kind<Extremum::kMin>(r);
  declare<Extremum::kMax>(r, "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor")
      .summary("index of the largest element, along a dim or in the flattened tensor")
      .out("argmax.out");
  declare<Extremum::kMin>(r, "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor")
      .summary("index of the smallest element, along a dim or in the flattened tensor")
      .out("argmin.out");
}

}  // namespace reduction
