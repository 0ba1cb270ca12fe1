// Device kernels of matrix products, all as one batch of products by cuBLAS (product.hpp).
//   mm f32[4,6], f32[6,3] -> [4,3]: rows 4, columns 3, inner 6
//   mm mk,kn->mn; bmm bmk,bkn->bmn; linear ...k,nk->...n; einsum of two operands, any equation

#include <onedim/pack.hpp>

#include "product.hpp"

namespace matrix_cuda {
namespace {

using MakeProduct = Product (*)(const Call& call);

Product product_of(const Call& call, std::string_view equation, int first_operand) {
  const TensorView left = call.input(first_operand), right = call.input(first_operand + 1);
  Product product;
  product.einsum = bind_einsum(equation, {left.shape(), right.shape()});
  product.left = {product.einsum.operands[0], left};
  product.right = {product.einsum.operands[1], right};
  product.out = {product.einsum.output, call.output()};
  return product;
}

template <const char* kEquation>
Product plain(const Call& call) {
  return product_of(call, kEquation, 0);
}

template <const char* kEquation>
Product affine(const Call& call) {
  Product product = product_of(call, kEquation, 1);
  product.bias = call.input(0);
  product.alpha = call.attribute<std::complex<double>>("alpha");
  product.beta = call.attribute<std::complex<double>>("beta");
  return product;
}

Product linear(const Call& call) {
  const bool is_row = call.tensor("weight").ndim() == 1;
  Product product = product_of(call, is_row ? "...k,k->..." : "...k,nk->...n", 0);
  product.bias = call.tensor("bias");
  product.beta = 1;
  return product;
}

Product einsum(const Call& call) {
  if (call.input_count() != 2) {
    fail("an einsum of " + std::to_string(call.input_count()) +
             " operands, on a device two are supported",
         ONEDIM_STATUS_UNIMPLEMENTED);
  }
  return product_of(call, call.attribute<std::string_view>("equation"), 0);
}

void declare(Registrar& r, std::string_view op, MakeProduct make) {
  r.kernel(op, ONEDIM_DEVICE_CUDA)
      .compute(kMultipliable,
               [make](const Call& call, const onedim_execution_t& execution) {
                 run_product(make(call), execution);
               })
      .workspace([make](const Call& call) { return scratch_bytes(make(call)); });
}

constexpr char kMatrices[] = "mk,kn->mn";
constexpr char kBatches[] = "bmk,bkn->bmn";

}  // namespace
}  // namespace matrix_cuda

ONEDIM_PACK("matrix_cuda", "1.0.0", [](onedim::api::Registrar& r) {
  using namespace matrix_cuda;
  declare(r, "mm", plain<kMatrices>);
  declare(r, "bmm", plain<kBatches>);
  declare(r, "addmm", affine<kMatrices>);
  declare(r, "baddbmm", affine<kBatches>);
  declare(r, "linear", linear);
  declare(r, "einsum", einsum);
});
