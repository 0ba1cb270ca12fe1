#include "tools/golden_compare.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "core/pack/written_value.hpp"

namespace onedim {
namespace {

std::string format_index(const Dims& shape, int64_t linear) {
  Dims index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = linear % shape[dim];
    linear /= shape[dim];
  }
  return format_dims(index);
}

bool is_close(double ours, double theirs, const Tolerance& tolerance) {
  if (std::isnan(theirs)) return std::isnan(ours);
  if (std::isinf(theirs) || !std::isfinite(ours)) return ours == theirs;
  return std::abs(ours - theirs) <= tolerance.absolute + tolerance.relative * std::abs(theirs);
}

bool is_finite(std::complex<double> value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

bool is_close(std::complex<double> ours, std::complex<double> theirs, const Tolerance& tolerance) {
  if (!is_finite(ours) || !is_finite(theirs)) {
    return is_close(ours.real(), theirs.real(), tolerance) &&
           is_close(ours.imag(), theirs.imag(), tolerance);
  }
  return std::abs(ours - theirs) <= tolerance.absolute + tolerance.relative * std::abs(theirs);
}

std::string format_element(DType dtype, const std::byte* element) {
  if (is_complex(dtype)) {
    const std::complex<double> value = load_complex(dtype, element);
    return fmt::format("{}{:+}j", value.real(), value.imag());
  }
  if (is_floating(dtype)) return fmt::format("{}", load_real(dtype, element));
  if (dtype == DType::kBool) return load_integer(dtype, element) != 0 ? "true" : "false";
  return fmt::format("{}", load_integer(dtype, element));
}

bool element_agrees(DType dtype, const std::byte* ours, const std::byte* theirs) {
  const Tolerance tolerance = tolerance_of(dtype);
  if (is_complex(dtype))
    return is_close(load_complex(dtype, ours), load_complex(dtype, theirs), tolerance);
  if (is_floating(dtype))
    return is_close(load_real(dtype, ours), load_real(dtype, theirs), tolerance);
  return load_integer(dtype, ours) == load_integer(dtype, theirs);
}

// A number as a tensor without dims, of the dtype that holds such numbers.
std::optional<Tensor> tensor_of(const Value& number) {
  const auto make = [](DType dtype, auto store, auto value) {
    Tensor tensor = Tensor::zeros(dtype, {});
    store(dtype, tensor.data(), value);
    return tensor;
  };
  if (const bool* flag = number.get_if<bool>())
    return make(DType::kBool, store_integer, int64_t{*flag});
  if (const int64_t* integer = number.get_if<int64_t>())
    return make(DType::kI64, store_integer, *integer);
  if (const double* real = number.get_if<double>()) return make(DType::kF64, store_real, *real);
  if (const auto* complex = number.get_if<std::complex<double>>())
    return make(DType::kC128, store_complex, *complex);
  return std::nullopt;
}

}  // namespace

Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kC128:
      return {1e-7, 1e-7};
    case DType::kF32:
    case DType::kC64:
      return {1.3e-6, 1e-5};
    case DType::kBF16:
      return {1.6e-2, 1e-5};
    case DType::kF16:
      return {1e-3, 1e-5};
    default:
      return {epsilon_of(dtype), is_floating(dtype) ? 1e-5 : 0};
  }
}

std::string meta_difference(const Tensor& ours, const Tensor& theirs) {
  if (ours.dtype() == theirs.dtype() && ours.shape() == theirs.shape()) return "";
  return fmt::format("{}, expected {}", format_meta(ours.meta()), format_meta(theirs.meta()));
}

std::string tensor_difference(const Tensor& ours, const Tensor& theirs) {
  if (std::string difference = meta_difference(ours, theirs); !difference.empty())
    return difference;
  for (int64_t i = 0; i < theirs.element_count(); ++i) {
    if (element_agrees(theirs.dtype(), ours.element(i), theirs.element(i))) continue;
    return fmt::format("{}: {}, expected {}", format_index(theirs.shape(), i),
                       format_element(ours.dtype(), ours.element(i)),
                       format_element(theirs.dtype(), theirs.element(i)));
  }
  return "";
}

std::string output_difference(const std::optional<Tensor>& ours, const GoldenValue& theirs,
                              bool has_undefined_content) {
  const Tensor* expected = std::get_if<Tensor>(&theirs.data);
  const Value* value = std::get_if<Value>(&theirs.data);
  const bool is_absent = value != nullptr && value->is_none();
  if (expected == nullptr && !is_absent) return "expected a value that is no tensor";
  if (!ours)
    return is_absent ? "" : fmt::format("absent, expected {}", format_meta(expected->meta()));
  if (is_absent) return fmt::format("{}, expected none", format_meta(ours->meta()));
  return has_undefined_content ? meta_difference(*ours, *expected)
                               : tensor_difference(*ours, *expected);
}

std::string number_difference(const Tensor& ours, const GoldenValue& theirs) {
  const Value* value = std::get_if<Value>(&theirs.data);
  const std::optional<Tensor> expected =
      value == nullptr ? std::nullopt : tensor_of(read_written_number(*value));
  return expected ? tensor_difference(ours, *expected) : "a number, expected a value that is none";
}

}  // namespace onedim
