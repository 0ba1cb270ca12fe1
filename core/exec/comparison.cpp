#include "core/exec/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onedim {
namespace {

// The distance of neighbours at `value`; of the smallest normal number at least.
double last_place(DType dtype, double value) {
  const double smallest = std::numeric_limits<float>::min();
  int exponent = 0;
  std::frexp(std::max(std::abs(value), smallest), &exponent);
  return std::ldexp(epsilon_of(dtype), exponent - 1);
}

struct Element {
  double error = 0;  // NaN: not to be compared by size
  double size = 0;   // of what is expected
  bool is_same = false;
};

bool is_nan(std::complex<double> value) {
  return std::isnan(value.real()) || std::isnan(value.imag());
}

Element compare_floats(DType dtype, const std::byte* expected, const std::byte* got) {
  const std::complex<double> a = load_complex(dtype, expected), b = load_complex(dtype, got);
  if (a == b || (is_nan(a) && is_nan(b))) return {0, std::abs(a), true};
  return {std::abs(a - b), std::abs(a), false};
}

Element compare_whole(DType dtype, const std::byte* expected, const std::byte* got) {
  const int64_t a = load_integer(dtype, expected), b = load_integer(dtype, got);
  const double error = std::abs(static_cast<double>(a) - static_cast<double>(b));
  return {error, std::abs(static_cast<double>(a)), a == b};
}

std::string value_text(DType dtype, const std::byte* element) {
  if (is_complex(dtype)) {
    const std::complex<double> value = load_complex(dtype, element);
    return fmt::format("{}{:+}j", value.real(), value.imag());
  }
  if (is_floating(dtype)) return fmt::format("{}", load_real(dtype, element));
  return fmt::format("{}", load_integer(dtype, element));
}

}  // namespace

Comparison compare_tensors(const Tensor& expected, const Tensor& got, const Tensor* magnitude,
                           double roundings) {
  Comparison result;
  if (expected.dtype() != got.dtype() || expected.shape() != got.shape()) {
    result.is_equal = result.is_bit_equal = false;
    result.difference =
        fmt::format("it is {}, expected {}", format_meta(got.meta()), format_meta(expected.meta()));
    return result;
  }
  result.is_bit_equal = bit_equal(expected, got);
  if (result.is_bit_equal) return result;
  const DType dtype = expected.dtype();
  const bool rounds = is_floating(dtype) || is_complex(dtype);
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    const std::byte *want = expected.element(i), *have = got.element(i);
    const Element element =
        rounds ? compare_floats(dtype, want, have) : compare_whole(dtype, want, have);
    if (element.is_same) continue;
    if (std::isfinite(element.error)) {
      result.max_abs_error = std::max(result.max_abs_error, element.error);
      if (rounds)
        result.max_ulp = std::max(result.max_ulp, element.error / last_place(dtype, element.size));
    }
    double terms = element.size;
    if (magnitude != nullptr)
      terms = std::max(terms, load_real(DType::kF64, magnitude->element(i)));
    if (rounds && element.error <= roundings * epsilon_of(dtype) * terms) continue;
    result.is_equal = false;
    if (result.element >= 0) continue;
    result.element = i;
    result.difference =
        fmt::format("it is {}, expected {}", value_text(dtype, have), value_text(dtype, want));
  }
  return result;
}

Tensor magnitudes_of(const Tensor& tensor) {
  Tensor magnitudes = Tensor::uninitialized(TensorMeta::contiguous(DType::kF64, tensor.shape()));
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const double size = std::abs(load_complex(tensor.dtype(), tensor.element(i)));
    store_real(DType::kF64, magnitudes.element(i), std::isfinite(size) ? size : 0);
  }
  return magnitudes;
}

}  // namespace onedim
