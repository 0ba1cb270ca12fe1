// Ops that return a number, not a tensor: whether two tensors are equal, whether they have one
// size, and the one element of a tensor. The number is a slot without dims, and is placed like any.
//   equal(f64[4,6], f64[4,6]): all pairs of shards must be equal, P(min) | S(0), S(0)

#include "families.hpp"

namespace reduction {
namespace {

bool have_one_shape(const TensorView& a, const TensorView& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end());
}

bool all_equal(const TensorView& a, const TensorView& b) {
  if (!have_one_shape(a, b)) return false;
  bool equal = false;
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      a.dtype(), [&]<typename C>(C) { equal = load_dense<C>(a) == load_dense<C>(b); });
  return equal;
}

void store_flag(bool flag, const TensorView& out) {
  const int64_t value = flag ? 1 : 0;
  store_dense(&value, out);
}

void declare_equal(Registrar& r) {
  r.op("equal(Tensor self, Tensor other) -> bool")
      .summary("whether both tensors have one shape and equal elements")
      .infer([](const Call& call, OutputSink& outputs) {
        require(call.input(0).dtype() == call.input(1).dtype(),
                "self and other must be of one dtype");
        outputs.add(DType::kBool, {});
      })
      .rules([](const Call& call, RuleSink& rules) {
        // Tensors of other shapes have other shapes on some rank.
        const TensorView self = call.input(0), other = call.input(1);
        for (int dim = 0; dim < std::min(self.ndim(), other.ndim()); ++dim) {
          if (self.size(dim) == 1 || other.size(dim) == 1) continue;
          rules.add(std::array{partial("min")}, std::array{any_shard(dim), any_shard(dim)});
        }
      })
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 store_flag(all_equal(call.input(0), call.input(1)), call.output());
               })
      .cost(reduction_cost)
      .samples({"f64[2,3]:values(1,1,1,1,1,1,1,1,1,1,1,2); f64[2,3]:values(1)",
                "f32[5]:values(0,0,0,0,0,1); f32[5]:values(0)",
                "i64[4,1,2]:values(3,3,3,3,3,3,3,3,3,1); i64[4,1,2]:values(3)", "bool[3]; bool[3]",
                "c64[2,2]:values(1,1,1,1,1,1,1,0); c64[2,2]:values(1)", "f64[2,3]; f64[3,2]",
                "bf16[3]:values(2,2,2,1); bf16[3]:values(2)"});
}

// Shapes are known to every rank, whatever it holds.
void declare_is_same_size(Registrar& r) {
  r.op("is_same_size(Tensor self, Tensor other) -> bool")
      .summary("whether both tensors have one shape")
      .position_aware()
      .infer([](const Call&, OutputSink& outputs) { outputs.add(DType::kBool, {}); })
      .rules([](const Call& call, RuleSink& rules) {
        const auto placements_of = [&call](int slot) {
          const TensorView tensor = call.input(slot);
          std::vector<Placement> placements = {replicate()};
          for (int dim = 0; dim < tensor.ndim(); ++dim) placements.push_back(any_shard(dim));
          for (std::string_view kind : {"sum", "avg", "max", "min", "product"}) {
            if (is_legal_partial(kind, tensor.dtype())) placements.push_back(partial(kind));
          }
          return placements;
        };
        for (const Placement& self : placements_of(0)) {
          for (const Placement& other : placements_of(1))
            rules.add(std::array{replicate()}, std::array{self, other});
        }
      })
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 const TensorView a = call.input(0), b = call.input(1);
                 bool same = a.ndim() == b.ndim();
                 for (int dim = 0; same && dim < a.ndim(); ++dim)
                   same = call.global_size(false, 0, dim) == call.global_size(false, 1, dim);
                 store_flag(same, call.output());
               })
      .samples({"f64[5,7]; f64[5,7]", "f32[4,1]; i64[4,6]", "i64[7]; f64[7]", "bool[3]; bool[2]",
                "c64[5]; f32[5]"});
}

// A number is bool, i64, f64 or c128.
DType number_of(DType dtype) {
  if (is_bool(dtype)) return dtype;
  return is_integral(dtype) ? DType::kI64 : is_complex(dtype) ? DType::kC128 : DType::kF64;
}

void declare_lone_element(Registrar& r) {
  r.op("_local_scalar_dense(Tensor self) -> Scalar")
      .summary("the one element of a tensor as a number")
      .infer([](const Call& call, OutputSink& outputs) {
        const int64_t count = call.input(0).element_count();
        if (count != 1)
          fail("a tensor of " + std::to_string(count) + " elements is no number, one is wanted");
        outputs.add(number_of(call.input(0).dtype()), {});
      })
      .rules([](const Call& call, RuleSink& rules) {
        add_passes(call, rules, [](const Pass&) { return true; });
      })
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 with_compute_type<double, int64_t, std::complex<double>>(
                     call.output().dtype(), [&]<typename C>(C) {
                       store_dense(load_dense<C>(call.input(0)).data(), call.output());
                     });
               })
      .samples({"f64[]", "f32[1]", "i64[1,1]", "bool[]", "c64[]", "bf16[1]", "i8[]"});
}

}  // namespace

void declare_numbers(Registrar& r) {
  declare_equal(r);
  declare_is_same_size(r);
  declare_lone_element(r);
}

}  // namespace reduction
