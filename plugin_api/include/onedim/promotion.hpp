#pragma once
// Dtypes of pointwise ops: what an op computes in and what it returns, by ATen's type promotion of
// its tensors and numbers; and the lists of compute types from which kernels are made.

#include <functional>
#include <onedim/elementwise.hpp>
#include <onedim/inline.hpp>

namespace onedim::api {

// What a pointwise op makes of its operands' common dtype.
enum class Promotion {
  kCommon,      // the common dtype
  kFloating,    // integers and bool become the default float
  kComparison,  // computed in the common dtype, the output is bool
};

// A function of float values on float and complex tensors and so on: lists of compute types.
template <typename... Types>
struct ComputeTypes {};
using FloatTypes = ComputeTypes<float, double>;
using RealTypes = ComputeTypes<float, double, int64_t>;
using FloatComplexTypes = ComputeTypes<float, double, std::complex<float>, std::complex<double>>;
using AllTypes = ComputeTypes<float, double, int64_t, std::complex<float>, std::complex<double>>;

// Where they differ from what a Promotion says, an op gives both dtypes itself.
struct PointwiseDTypes {
  DType compute = DType::kUndefined;
  DType output = DType::kUndefined;
};
using PointwiseDTypesFn = std::function<PointwiseDTypes(const Call&)>;

// Common dtype of the tensor arguments and the Scalar-valued operands in `names`.
ONEDIM_INLINE DType common_dtype(const Call& call, std::span<const std::string> names) {
  ResultType result;
  for (const std::string& name : names) {
    const Operand found = operand(call, name);
    if (found.tensor.present())
      result.add_tensor(found.tensor.dtype(), found.tensor.ndim());
    else if (found.value != nullptr)
      result.add_number(number_dtype(*found.value));
  }
  const DType dtype = result.get();
  require(dtype != DType::kUndefined, "the operands' dtypes have no common dtype");
  return dtype;
}

ONEDIM_INLINE DType promoted(DType common, Promotion promotion) {
  return promotion == Promotion::kFloating ? to_floating(common) : common;
}

ONEDIM_INLINE PointwiseDTypes promoted_dtypes(const Call& call, Promotion promotion,
                                              std::span<const std::string> names) {
  const DType compute = promoted(common_dtype(call, names), promotion);
  return {compute, promotion == Promotion::kComparison ? DType::kBool : compute};
}

}  // namespace onedim::api
