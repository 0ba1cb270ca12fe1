#pragma once
// The families of reductions, one source each, and what they share.

#include <onedim/cast_passes.hpp>
#include <onedim/pack.hpp>
#include <onedim/positions.hpp>

namespace reduction {

using namespace onedim::api;

void declare_sums(Registrar& r);            // sum, mean, prod
void declare_sum_variants(Registrar& r);    // nansum, count_nonzero, histc
void declare_extrema(Registrar& r);         // amax, amin, max, min, argmax, argmin
void declare_logical(Registrar& r);         // any, all
void declare_scans(Registrar& r);           // cumsum, cumprod, logcumsumexp
void declare_extremum_scans(Registrar& r);  // cummax, cummin
void declare_log_sums(Registrar& r);        // logsumexp
void declare_moments(Registrar& r);         // var, std, var_mean
void declare_norms(Registrar& r);           // vector norms and power sums
void declare_sorting(Registrar& r);         // sort, topk
void declare_selection(Registrar& r);       // median, kthvalue, mode
void declare_numbers(Registrar& r);         // equal, is_same_size, _local_scalar_dense

// What ATen's CPU reductions take: everything but the 8-bit floats.
inline constexpr uint64_t kReducible =
    kAllDTypes & ~(uint64_t{1} << ONEDIM_DTYPE_F8E4M3FN | uint64_t{1} << ONEDIM_DTYPE_F8E5M2 |
                   uint64_t{1} << ONEDIM_DTYPE_F8E8M0);
inline constexpr uint64_t kOrdered =
    kReducible & ~(uint64_t{1} << ONEDIM_DTYPE_C64 | uint64_t{1} << ONEDIM_DTYPE_C128);

// One pass over the input.
inline void reduction_cost(const Call& call, onedim_cost_t& cost) {
  const TensorView self = call.input(0);
  cost.flops = static_cast<double>(self.element_count());
  cost.bytes = static_cast<double>(self.element_count() * size_of(self.dtype()));
  for (int i = 0; i < call.output_count(); ++i) {
    const TensorView out = call.output(i);
    if (out.present())
      cost.bytes += static_cast<double>(out.element_count() * size_of(out.dtype()));
  }
}

// prims keep the dtype, unless they are given another.
inline DType prim_dtype(const Call& call) {
  const bool given = call.has_attribute("output_dtype");
  return given ? call.attribute<DType>("output_dtype") : call.input(0).dtype();
}

// The dtype argument, or ATen's default for sums and products: integers and bool become i64.
inline DType sum_dtype(const Call& call) {
  if (call.find_attribute("output_dtype") != nullptr) return prim_dtype(call);
  if (call.has_attribute("dtype")) return call.attribute<DType>("dtype");
  const DType self = call.input(0).dtype();
  return category(self) < 2 ? DType::kI64 : self;
}

// Adds the passes of the cast from self to the output that `keep(pass)` accepts.
template <typename Keep>
void add_passes(const Call& call, RuleSink& rules, Keep keep) {
  for (const Pass& pass : cast_passes(call.input(0).dtype(), call.output().dtype())) {
    if (!keep(pass)) continue;
    RuleOptions options;
    options.flags = pass.to_rounding ? uint64_t{ONEDIM_RULE_TO_ROUNDING} : 0;
    const Placement in = pass.in.empty() ? replicate() : partial(pass.in);
    const std::vector<Placement> outputs(static_cast<size_t>(call.output_count()),
                                         partial(pass.out));
    rules.add(outputs, std::span(&in, 1), options);
  }
}

// values, indices | self of one element: the value passes as through a cast, and every index is 0.
inline void add_single_pair_passes(const Call& call, RuleSink& rules, bool single) {
  if (!single) return;
  for (const Pass& pass : cast_passes(call.input(0).dtype(), call.output().dtype())) {
    const Placement outputs[] = {partial(pass.out), replicate()};
    const Placement in = pass.in.empty() ? replicate() : partial(pass.in);
    rules.add(outputs, std::span(&in, 1));
  }
}

// Elements cast to `dtype`, with its rounding and wrapping.
template <typename C>
std::vector<C> load_cast(const TensorView& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return load_dense<C>(tensor);
  const int64_t count = tensor.element_count();
  std::vector<std::byte> cast(static_cast<size_t>(count * size_of(dtype)));
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      tensor.dtype(), [&]<typename Own>(Own) {
        store_row(dtype, load_dense<Own>(tensor).data(), 1, count, cast.data());
      });
  std::vector<C> values(static_cast<size_t>(count));
  load_row(dtype, cast.data(), 1, count, values.data());
  return values;
}

// True per output element: some (all) of the elements it stands for differ from zero.
std::vector<int64_t> any_nonzero(const TensorView& self, const std::vector<bool>& reduced);
std::vector<int64_t> all_nonzero(const TensorView& self, const std::vector<bool>& reduced);

}  // namespace reduction
