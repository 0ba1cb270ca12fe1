#pragma once
// The families of matrix ops, one source each, and what they share.

#include <onedim/pack.hpp>

namespace matrix {

using namespace onedim::api;

void declare_products(Registrar& r);  // t, mm, bmm, mv, dot, vdot, outer
void declare_affine(Registrar& r);    // addmm, baddbmm, linear
void declare_einsum(Registrar& r);    // einsum
void declare_scaled(Registrar& r);    // _scaled_mm

// What ATen's CPU matrix products take: no bool, no 8-bit floats.
inline constexpr uint64_t kMultipliable =
    kAllDTypes & ~(uint64_t{1} << ONEDIM_DTYPE_BOOL | uint64_t{1} << ONEDIM_DTYPE_F8E4M3FN |
                   uint64_t{1} << ONEDIM_DTYPE_F8E5M2 | uint64_t{1} << ONEDIM_DTYPE_F8E8M0);

// Two operations for every product of one element of each operand.
inline void einsum_cost(const Call& call, const Einsum& einsum, onedim_cost_t& cost) {
  cost.flops = 2;
  for (char letter : einsum.letters()) cost.flops *= static_cast<double>(einsum.size(letter));
  const auto add_bytes = [&](const TensorView& tensor) {
    if (!tensor.present()) return;
    cost.bytes += static_cast<double>(tensor.element_count() * size_of(tensor.dtype()));
  };
  for (int i = 0; i < call.input_count(); ++i) add_bytes(call.input(i));
  for (int i = 0; i < call.output_count(); ++i) add_bytes(call.output(i));
}

}  // namespace matrix
