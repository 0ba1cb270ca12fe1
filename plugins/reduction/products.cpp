// prod: multiplicative in every element; a product of bools is their `and`.

#include <onedim/arithmetic.hpp>

#include "passes.hpp"

namespace reduction {
namespace {

void compute_product(const Call& call, const onedim_execution_t&) {
  const TensorView out = call.output();
  const std::vector<bool> reduced = reduced_dims(call);
  if (is_bool(out.dtype())) return store_dense(all_nonzero(call.input(0), reduced).data(), out);
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      out.dtype(), [&]<typename C>(C) {
        using Acc = Accumulator<C>;
        store_dense(fold<C>(call.input(0), reduced, Acc(1), times<Acc>).data(), out);
      });
}

void product_rules(const Call& call, RuleSink& rules) {
  const std::vector<bool> reduced = reduced_dims(call);
  const bool single = reduced_count(call, reduced) == 1;
  const bool is_all = is_bool(call.input(0).dtype()) || is_bool(call.output().dtype());
  add_passes(call, rules, [&](const Pass& pass) {
    return single || pass.in == "product" || (is_all && pass.in == "min" && pass.out != "max");
  });
  if (is_all) reduction_rules(call, rules, reduced, keeps_dims(call), "min");
}

OpBuilder& declare_product(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .reduction("product", sum_dtype)
      .rules(product_rules)
      .compute(kReducible, compute_product)
      .cost(reduction_cost);
}

}  // namespace

void declare_products(Registrar& r) {
  declare_product(r, "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor")
      .summary("product of all elements")
      .samples({"f32[5,3]", "f64[4,6]", "i64[7]", "i32[2,3]", "bool[5,3]", "c64[4,2]", "f64[1,1]",
                "f32[3,1,2]; dtype=f64", "bool[5]; dtype=bool", "f32[4,2]; dtype=bool"})
      .out("prod.out");
  declare_product(r,
                  "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? "
                  "dtype=None) -> Tensor")
      .summary("product over one dim")
      .samples({"f32[5,7]; dim=1", "f64[4,1,6]; dim=0", "f64[4,1,6]; dim=1",
                "f32[4,6]; dim=-2; keepdim=true", "i64[5,3]; dim=0", "bool[4,5]; dim=-1",
                "c64[3,5]; dim=1", "f32[5,1]; dim=1; dtype=i64", "bool[5,1]; dim=1"})
      .out("prod.int_out");
}

}  // namespace reduction
