// Elementwise ops of ATen.

#include "families.hpp"

namespace onedim::api {
template void map_rows<float>(const TensorView&, std::span<const Operand>, RowFunction<float>,
                              const void*, DType);
template void map_rows<double>(const TensorView&, std::span<const Operand>, RowFunction<double>,
                               const void*, DType);
template void map_rows<int64_t>(const TensorView&, std::span<const Operand>, RowFunction<int64_t>,
                                const void*, DType);
template void map_rows<std::complex<float>>(const TensorView&, std::span<const Operand>,
                                            RowFunction<std::complex<float>>, const void*, DType);
template void map_rows<std::complex<double>>(const TensorView&, std::span<const Operand>,
                                             RowFunction<std::complex<double>>, const void*, DType);
}  // namespace onedim::api

ONEDIM_PACK("pointwise", "1.0.0", [](onedim::api::Registrar& r) {
  pointwise::declare_activations(r);
  pointwise::declare_additive(r);
  pointwise::declare_backward(r);
  pointwise::declare_bessel(r);
  pointwise::declare_bits(r);
  pointwise::declare_comparison(r);
  pointwise::declare_exponential(r);
  pointwise::declare_extremes(r);
  pointwise::declare_gamma_functions(r);
  pointwise::declare_logic(r);
  pointwise::declare_multiplicative(r);
  pointwise::declare_parts(r);
  pointwise::declare_polynomials(r);
  pointwise::declare_power(r);
  pointwise::declare_predicates(r);
  pointwise::declare_remainder(r);
  pointwise::declare_rounding(r);
  pointwise::declare_selection(r);
  pointwise::declare_special(r);
  pointwise::declare_trigonometric(r);
  pointwise::declare_unary(r);
  pointwise::declare_unary_float(r);
});
