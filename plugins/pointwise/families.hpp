#pragma once
// The families of this pack. Most ops need a line of category, a line of kernel and their samples;
// what else they need to know about a call's values is in knowledge.hpp.

#include <onedim/pack.hpp>

namespace onedim::api {
// The walk is compiled once for the pack (pointwise.cpp), not once a file.
extern template void map_rows<float>(const TensorView&, std::span<const Operand>,
                                     RowFunction<float>, const void*, DType);
extern template void map_rows<double>(const TensorView&, std::span<const Operand>,
                                      RowFunction<double>, const void*, DType);
extern template void map_rows<int64_t>(const TensorView&, std::span<const Operand>,
                                       RowFunction<int64_t>, const void*, DType);
extern template void map_rows<std::complex<float>>(const TensorView&, std::span<const Operand>,
                                                   RowFunction<std::complex<float>>, const void*,
                                                   DType);
extern template void map_rows<std::complex<double>>(const TensorView&, std::span<const Operand>,
                                                    RowFunction<std::complex<double>>, const void*,
                                                    DType);
}  // namespace onedim::api

namespace pointwise {

using namespace onedim::api;

// The schema of a unary op's form over lists.
inline std::string list_form(std::string_view name) {
  return "_foreach_" + std::string(name) + "(Tensor[] self) -> Tensor[]";
}

void declare_activations(Registrar& r);      // elu hardtanh hardshrink leaky_relu softplus ...
void declare_additive(Registrar& r);         // add sub rsub lerp addcmul addcdiv
void declare_backward(Registrar& r);         // gelu_backward tanh_backward threshold_backward ...
void declare_bessel(Registrar& r);           // i0 special_i1 special_bessel_j0 ...
void declare_bits(Registrar& r);             // bitwise_and bitwise_not bitwise_left_shift ...
void declare_comparison(Registrar& r);       // eq ne lt le gt ge
void declare_exponential(Registrar& r);      // exp2 log2 log1p erfc xlogy ...
void declare_extremes(Registrar& r);         // maximum minimum fmax fmin clamp
void declare_gamma_functions(Registrar& r);  // lgamma igamma erfinv special_zeta ...
void declare_logic(Registrar& r);            // logical_and logical_or logical_xor logical_not
void declare_multiplicative(Registrar& r);   // mul div
void declare_parts(Registrar& r);            // sgn angle conj_physical frexp
void declare_polynomials(Registrar& r);      // special_hermite_polynomial_h ...
void declare_power(Registrar& r);            // pow
void declare_predicates(Registrar& r);       // isnan isinf signbit nan_to_num
void declare_remainder(Registrar& r);        // fmod gcd hypot heaviside ldexp ...
void declare_rounding(Registrar& r);         // ceil round frac ...
void declare_selection(Registrar& r);        // where masked_fill
void declare_special(Registrar& r);          // logaddexp copysign atan2
void declare_trigonometric(Registrar& r);    // acos sinh sinc deg2rad ...
void declare_unary(Registrar& r);            // abs neg relu sign floor square positive
void declare_unary_float(Registrar& r);      // exp log sqrt sin gelu ...

}  // namespace pointwise
