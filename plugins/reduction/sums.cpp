// sum and mean are linear in every element, prod is multiplicative, so they pass these partials; a
// max does not commute with a sum: of the rows (1,0) and (0,1) each sums to 1, their max (1,1) to
// 2. mean divides by the number of elements of the global tensor, so a sharded dim gives a P(sum)
// whatever the shards' lengths are, and a P(avg) if the kernel scales by the size of that mesh dim.
//   sum.dim_IntList f64[4,6], dim [1]: S(0) | S(0);  P(sum) | S(1);  P(sum) | P(sum);
//   no P(max) | P(max).  mean.dim: P(sum) | S(1);  P(avg) | S(1).  prod.dim_int, dim 1:
//   P(product) | S(1)

#include <onedim/arithmetic.hpp>
#include <onedim/average_scale.hpp>

#include "families.hpp"

namespace reduction {
namespace {

// Folds the input as the output's dtype: elements are cast first, so a narrow float rounds each.
template <typename C, typename Op>
std::vector<Accumulator<C>> fold_cast(const Call& call, int identity, Op op) {
  const TensorView self = call.input(0);
  const DType to = call.output().dtype();
  const auto start = static_cast<Accumulator<C>>(identity);
  if (self.dtype() == to || size_of(to) != 2 || !is_floating(to))
    return fold<C>(self, reduced_dims(call), start, op);
  const std::vector<C> values = load_dense<C>(self);
  std::vector<uint16_t> rounded(values.size());
  store_row(to, values.data(), 1, self.element_count(),
            reinterpret_cast<std::byte*>(rounded.data()));
  std::vector<int64_t> strides(static_cast<size_t>(self.ndim()), 1);
  for (int dim = self.ndim() - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * self.size(dim + 1);
  onedim_tensor_t cast{};
  cast.present = 1;
  cast.dtype = static_cast<int32_t>(to);
  cast.ndim = self.ndim();
  cast.shape = self.shape().data();
  cast.strides = strides.data();
  cast.data = rounded.data();
  return fold<C>(TensorView(&cast), reduced_dims(call), start, op);
}

template <typename C>
std::vector<Accumulator<C>> sums_of(const Call& call) {
  return fold_cast<C>(call, 0, plus<Accumulator<C>>);
}

void compute_sum(const Call& call, const onedim_execution_t&) {
  const TensorView out = call.output();
  if (is_bool(out.dtype())) {
    return store_dense(any_nonzero(call.input(0), reduced_dims(call)).data(), out);
  }
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      out.dtype(), [&]<typename C>(C) { store_dense(sums_of<C>(call).data(), out); });
}

void sum_passes(const Call& call, RuleSink& rules) {
  const std::vector<bool> reduced = reduced_dims(call);
  const bool single = reduced_count(call, reduced) == 1;
  const bool is_any = is_bool(call.output().dtype());
  add_passes(call, rules, [&](const Pass& pass) {
    return single || (is_any ? pass.out == "max" : pass.is_linear());
  });
  if (is_any) reduction_rules(call, rules, reduced, keeps_dims(call), "max");
}

DType mean_dtype(const Call& call) {
  const bool given = call.has_attribute("dtype");
  const DType dtype = given ? call.attribute<DType>("dtype") : call.input(0).dtype();
  require(category(dtype) >= 2, given ? "the dtype of a mean must be a float or complex one"
                                      : "self is not a float or complex tensor, give a dtype");
  return dtype;
}

void compute_mean(const Call& call, const onedim_execution_t&) {
  const std::vector<bool> reduced = reduced_dims(call);
  const double scale = average_scale(call, reduced);
  const auto count = static_cast<double>(reduced_count(call, reduced));
  with_compute_type<float, double, std::complex<float>, std::complex<double>>(
      call.output().dtype(), [&]<typename C>(C) {
        auto means = sums_of<C>(call);
        for (auto& mean : means) mean = mean * scale / count;
        store_dense(means.data(), call.output());
      });
}

void mean_rules(const Call& call, RuleSink& rules) {
  const std::vector<bool> reduced = reduced_dims(call);
  reduction_rules(call, rules, reduced, keeps_dims(call), "avg");
  const bool single = reduced_count(call, reduced) == 1;
  add_passes(call, rules, [&](const Pass& pass) { return single || pass.is_linear(); });
}

OpBuilder& declare_sum(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .reduction("sum", sum_dtype)
      .rules(sum_passes)
      .compute(kReducible, compute_sum)
      .cost(reduction_cost);
}

OpBuilder& declare_mean(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .reduction("sum", mean_dtype)
      .rules(mean_rules)
      .position_aware()
      .compute(kReducible, compute_mean)
      .cost(reduction_cost);
}

// A product of bools is their `and`.
void compute_product(const Call& call, const onedim_execution_t&) {
  const TensorView out = call.output();
  if (is_bool(out.dtype()))
    return store_dense(all_nonzero(call.input(0), reduced_dims(call)).data(), out);
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      out.dtype(), [&]<typename C>(C) {
        store_dense(fold_cast<C>(call, 1, times<Accumulator<C>>).data(), out);
      });
}

void product_rules(const Call& call, RuleSink& rules) {
  const std::vector<bool> reduced = reduced_dims(call);
  const bool single = reduced_count(call, reduced) == 1;
  const bool is_all = is_bool(call.input(0).dtype()) || is_bool(call.output().dtype());
  add_passes(call, rules, [&](const Pass& pass) {
    return single || pass.in == "product" || (is_all && pass.in != "max" && pass.out != "max");
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

void declare_sums(Registrar& r) {
  declare_sum(r, "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor")
      .summary("sum of all elements")
      .samples({"f32[5,7]", "f64[4,6]", "i64[7]", "i32[3,5]", "bool[5,3]", "c64[4,5]", "f64[1,1]",
                "f32[6,1,4]; dtype=f64", "bf16[5,6]", "f32[5,4]; dtype=bool", "bool[1]"})
      .out("sum.out");
  declare_sum(r,
              "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
              "dtype=None) -> Tensor")
      .summary("sum over dims; no dims means all")
      .samples({"f32[5,7]; dim=[1]", "f64[4,1,6]; dim=[0,-1]", "f64[4,1,6]; dim=[1]",
                "f32[4,6]; dim=[0]; keepdim=true", "i64[5,3]; dim=[0]", "bool[4,5]; dim=[-1]",
                "c64[3,5]; dim=[1]", "f64[7,4]; dim=[]", "f64[6,5]; dim=null",
                "f32[5,6]; dim=[0]; dtype=i64", "f32[5,1]; dim=[1]; dtype=i64", "f16[7,4]; dim=[1]",
                "bool[5,1]; dim=[1]"})
      .out("sum.IntList_out");
  declare_sum(r, "prims.sum(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor")
      .summary("sum over dims, in inp's dtype; no dims means all")
      .samples({"f32[5,7]; dims=[1]", "f64[4,1,6]; dims=[0,2]", "i32[5,3]; dims=[0]",
                "bool[4,5]; dims=[1]", "f64[4,3]; dims=null; output_dtype=f32"});
  declare_mean(r, "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor")
      .summary("mean of all elements")
      .samples({"f32[5,7]", "f64[4,6]", "f64[7]", "c64[5,3]", "f64[1,1]", "i64[5,4]; dtype=f32",
                "bf16[6,4]"})
      .out("mean.dtype_out");
  declare_mean(r,
               "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) "
               "-> Tensor")
      .summary("mean over dims; no dims means all")
      .samples({"f32[5,7]; dim=[1]", "f64[4,1,6]; dim=[0,-1]", "f64[4,1,6]; dim=[1]",
                "f32[4,6]; dim=[0]; keepdim=true", "c128[3,5]; dim=[1]", "f64[7,4]; dim=[]",
                "f16[7,4]; dim=[-1]", "i32[5,4]; dim=[0]; dtype=f64"})
      .out("mean.out");
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
  declare_product(r,
                  "prims.prod(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor")
      .summary("product over dims, in inp's dtype; no dims means all")
      .samples({"f32[5,3]; dims=[1]", "f64[4,1,2]; dims=[0,2]", "i32[5,3]; dims=[0]",
                "bool[4,5]; dims=[1]", "f64[4,3]; dims=null; output_dtype=f32"});
}

}  // namespace reduction
