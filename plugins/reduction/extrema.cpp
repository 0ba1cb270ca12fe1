// amax, amin, max and min, argmax and argmin. A max over elements and a max over ranks commute, so
// a cut dim leaves P(max) and P(max) passes; a min does not: the rows (1,2) and (2,1) have the
// maximum 2 each, the row of minima has 1. The two outputs of max and min along a dim only merge
// together: the joint partials reduction.max and reduction.min. A sharded dim of argmax leaves the
// joint partial (value, index), of which the index is the output: each rank finds its best element
// at its global position.
//   amax f64[4,6], dim 1: S(0) | S(0);  P(max) | S(1);  P(max) | P(max);  no P(min) | P(min).
//   argmax: P(reduction.argmax#0) | S(1);  no P(max) | S(1)

#include "extremum.hpp"

namespace reduction {
namespace {

// -0 < +0, so the result does not depend on the order of the elements.
template <Extremum kWhich, typename C>
C better_of(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (a == b) return std::signbit(a) == (kWhich == Extremum::kMax) ? b : a;
  }
  return is_better<kWhich>(b, a) ? b : a;
}

template <Extremum kWhich>
OpBuilder& declare(Registrar& r, std::string_view schema) {
  const std::string_view kind = kWhich == Extremum::kMax ? "max" : "min";
  return r.op(schema)
      .reduction(std::string(kind), prim_dtype)
      .rules([kind](const Call& call, RuleSink& rules) {
        const bool single = reduced_count(call, reduced_dims(call)) == 1;
        add_passes(call, rules, [&](const Pass& pass) { return single || pass.in == kind; });
      })
      .position_aware()  // to tell an empty shard from an empty tensor
      .compute(kOrdered,
               [](const Call& call, const onedim_execution_t&) {
                 const TensorView self = call.input(0);
                 const std::vector<bool> reduced = reduced_dims(call);
                 require_elements(call, reduced);
                 with_compute_type<float, double, int64_t>(self.dtype(), [&]<typename C>(C) {
                   const C worst = worst_of<kWhich, C>(self.dtype());
                   store_dense(fold<C>(self, reduced, worst, better_of<kWhich, C>).data(),
                               call.output());
                 });
               })
      .cost(reduction_cost);
}

// Rules of `values, indices | self` along one dim.
template <Extremum kWhich>
void pair_rules(const Call& call, RuleSink& rules) {
  constexpr bool kIsMax = kWhich == Extremum::kMax;
  const std::vector<bool> reduced = reduced_dims(call);
  reduction_rules(call, rules, reduced, keeps_dims(call), "");
  const bool single = reduced_count(call, reduced) == 1;
  add_single_pair_passes(call, rules, single);
  if (call.input(0).ndim() == 0) return;
  const int dim = wrap_dim(call.attribute<int64_t>("dim"), call.input(0).ndim());
  const std::string_view kind = kIsMax ? "reduction.max" : "reduction.min";
  const Placement outputs[] = {partial(kind, 0), partial(kind, 1)};
  for (const Placement& in : {any_shard(dim), partial(kIsMax ? "max" : "min")}) {
    rules.add(outputs, std::span(&in, 1));
  }
}

template <Extremum kWhich>
OpBuilder& declare_pair(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .infer([](const Call& call, OutputSink& outputs) {
        const Shape shape =
            reduced_shape(call.input(0).shape(), reduced_dims(call), keeps_dims(call));
        outputs.add(call.input(0).dtype(), shape);
        outputs.add(DType::kI64, shape);
      })
      .rules(pair_rules<kWhich>)
      .position_aware()
      .compute(kOrdered,
               [](const Call& call, const onedim_execution_t&) {
                 const std::vector<bool> reduced = reduced_dims(call);
                 require_elements(call, reduced);
                 with_compute_type<float, double, int64_t>(
                     call.input(0).dtype(), [&]<typename C>(C) {
                       const Best<C> best = find_best<kWhich, C>(call, reduced);
                       store_dense(best.values.data(), call.output(0));
                       store_dense(best.indices.data(), call.output(1));
                     });
               })
      .cost(reduction_cost)
      .samples({"f32[5,7]; dim=1", "f64[4,1,6]; dim=0", "f64[4,6]; dim=-2; keepdim=true",
                "i64[5,3]; dim=0", "bool[4,5]; dim=1", "bf16[7,3]; dim=0"});
}

template <Extremum kWhich>
constexpr std::string_view kKind =
    kWhich == Extremum::kMax ? "reduction.argmax" : "reduction.argmin";

template <Extremum kWhich>
void declare_arg_kind(Registrar& r) {
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
OpBuilder& declare_arg(Registrar& r, std::string_view schema) {
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

void declare_prims(Registrar& r) {
  const std::initializer_list<std::string_view> samples = {
      "f32[5,7]; dims=[1]", "f64[4,1,6]; dims=[0,2]", "i64[5,3]; dims=[0]", "bool[4,5]; dims=[1]",
      "f64[4,3]; dims=null"};
  declare<Extremum::kMax>(
      r, "prims.amax(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor")
      .summary("largest element over dims; no dims means all")
      .samples(samples);
  declare<Extremum::kMin>(
      r, "prims.amin(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor")
      .summary("smallest element over dims; no dims means all")
      .samples(samples);
}

}  // namespace

void declare_extrema(Registrar& r) {
  declare_prims(r);
  const std::vector<std::string> dim_samples = {"f32[5,7]; dim=[1]",
                                                "f64[4,1,6]; dim=[0,-1]",
                                                "f64[4,1,6]; dim=[1]",
                                                "f32[4,6]; dim=[0]; keepdim=true",
                                                "i64[5,3]; dim=[0]",
                                                "bool[4,5]; dim=[-1]",
                                                "f64[5,7]",
                                                "i8[6,4]; dim=[1]",
                                                "bf16[7,3]; dim=[0]"};
  const std::vector<std::string> whole_samples = {"f32[5,7]", "f64[4,1,6]", "i64[7]",
                                                  "bool[5]",  "f64[1,1]",   "f16[5,4]"};
  const auto texts = [](const std::vector<std::string>& list) {
    return [list](SampleSink& samples) {
      for (const std::string& text : list) samples.add(text);
    };
  };
  declare_best<Extremum::kMax>(r, "reduction.max", {"values", "indices"});
  declare_best<Extremum::kMin>(r, "reduction.min", {"values", "indices"});
  declare<Extremum::kMax>(r, "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor")
      .summary("largest element over dims; no dims means all")
      .example("f32[5,7]; dim=[1]")
      .samples(texts(dim_samples))
      .out("amax.out");
  declare<Extremum::kMin>(r, "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor")
      .summary("smallest element over dims; no dims means all")
      .example("f32[5,7]; dim=[1]")
      .samples(texts(dim_samples))
      .out("amin.out");
  declare<Extremum::kMax>(r, "max(Tensor self) -> Tensor")
      .summary("largest element")
      .example("f32[5,7]")
      .samples(texts(whole_samples))
      .out("max.unary_out")
      .over_lists("_foreach_max(Tensor[] self) -> Tensor[]", OpBuilder::ListForms::kNotInPlace);
  declare<Extremum::kMin>(r, "min(Tensor self) -> Tensor")
      .summary("smallest element")
      .example("f32[5,7]")
      .samples(texts(whole_samples))
      .out("min.unary_out");
  declare_pair<Extremum::kMax>(
      r, "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .summary("largest elements along a dim and their indices");
  declare_pair<Extremum::kMin>(
      r, "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
      .summary("smallest elements along a dim and their indices");
  declare_arg_kind<Extremum::kMax>(r);
  declare_arg_kind<Extremum::kMin>(r);
  declare_arg<Extremum::kMax>(r, "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor")
      .summary("index of the largest element, along a dim or in the flattened tensor")
      .out("argmax.out");
  declare_arg<Extremum::kMin>(r, "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor")
      .summary("index of the smallest element, along a dim or in the flattened tensor")
      .out("argmin.out");
}

}  // namespace reduction
