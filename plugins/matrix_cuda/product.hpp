#pragma once
// Any product of two tensors that sums over letters, as one batch of matrix products. The letters
// of an equation fall into four groups: batch (in both operands and the output), rows (in the
// output and the first operand), columns (in the output and the second) and inner (summed). An
// operand whose groups are each one step in memory, with neighbours along rows or columns, is
// multiplied where it lies; another is copied into scratch first, and so is the output. Scratch is
// asked for by the strides that the call describes; where those that come need more, or there is
// nothing to sum, a plain kernel does it without.
//   abk,kn->abn: rows ab, columns n, inner k
//   abn,abk->kn: rows n, columns k, inner ab

#include <onedim/device_call.hpp>
#include <onedim/einsum.hpp>

#include "blas.hpp"

namespace matrix_cuda {

using namespace onedim::api;

inline constexpr uint64_t kMultipliable = kDeviceFloats | dtype_bit(DType::kC64);

// One term: its letters and where their steps lead.
struct Term {
  std::string letters;
  TensorView tensor;
};

// out = alpha left right + beta bias
struct Product {
  Einsum einsum;  // of the two operands
  Term left, right, out;
  TensorView bias;  // not present: none
  std::complex<double> alpha = 1, beta = 0;
};

uint64_t scratch_bytes(const Product& product);
void run_product(const Product& product, const onedim_execution_t& execution);

}  // namespace matrix_cuda
