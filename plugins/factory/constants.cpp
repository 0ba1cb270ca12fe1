// A tensor that is the number v everywhere. Any part of it is too, so every shard holds; equal
// values are a P(avg), P(max) and P(min) of themselves; a sum of n of them is v only for v = 0, and
// a product only for v = 0 or 1.
//   full_like(f32[4,6], 3): S(0) | P(sum), but no P(sum) | P(sum): two ranks would add up to 6

#include <cmath>
#include <limits>

#include "families.hpp"

namespace factory {
namespace {

using Complex = std::complex<double>;

Complex as_complex(const onedim_value_t& number) {
  return detail::read_value<Complex>(number, "value");
}

bool has_fraction_or_infinity(const onedim_value_t& number) {
  return number.kind == ONEDIM_VALUE_FLOAT || number.kind == ONEDIM_VALUE_COMPLEX;
}

double largest_of(DType dtype) {
  switch (to_real(dtype)) {
    case DType::kF64:
      return std::numeric_limits<double>::max();
    case DType::kF16:
      return 65504;
    case DType::kF8E4M3FN:
      return 448;
    case DType::kF8E5M2:
      return 57344;
    default:
      return dtype == DType::kBF16 ? 0x1.FEp127 : std::numeric_limits<float>::max();
  }
}

bool fits_integer(const onedim_value_t& number, DType dtype) {
  const double bits = static_cast<double>(8 * size_of(dtype));
  const bool is_unsigned = dtype == DType::kU8;
  const double top = is_unsigned ? 255 : std::ldexp(1.0, static_cast<int>(bits) - 1) - 1;
  // A negative number wraps into an unsigned dtype.
  const double bottom = is_unsigned ? -255 : -std::ldexp(1.0, static_cast<int>(bits) - 1);
  if (number.kind == ONEDIM_VALUE_INT || number.kind == ONEDIM_VALUE_BOOL) {
    const auto integer = static_cast<double>(number.integer);
    return dtype == DType::kI64 || (integer >= bottom && integer <= top);
  }
  const Complex value = as_complex(number);
  return value.imag() == 0 && value.real() >= bottom && value.real() <= top;
}

bool fits(const onedim_value_t& number, DType dtype) {
  if (is_bool(dtype)) return true;
  if (is_integral(dtype)) return fits_integer(number, dtype);
  if (!has_fraction_or_infinity(number)) return true;
  const Complex value = as_complex(number);
  if (!is_complex(dtype) && value.imag() != 0) return false;
  const auto part_fits = [top = largest_of(dtype)](double part) {
    return !std::isfinite(part) || std::abs(part) <= top;
  };
  return part_fits(value.real()) && part_fits(value.imag());
}

// The number as `dtype` stores it.
Complex stored(const onedim_value_t& number, DType dtype) {
  Complex result;
  if (is_bool(dtype)) return as_complex(number) != 0.0 ? 1.0 : 0.0;
  const Operand operand{TensorView(), as_complex(number), &number};
  with_compute_type<float, double, int64_t, std::complex<float>, Complex>(
      dtype, [&]<typename C>(C) {
        result = detail::convert_plain<Complex>(
            detail::real_part(settled(detail::number_as<C>(operand), dtype)));
      });
  return is_complex(dtype) ? as_complex(number) : result;
}

}  // namespace

NumberFn always(int64_t number) {
  return [number](const Call&) {
    return onedim_value_t{ONEDIM_VALUE_INT, 0, number, 0, 0, {}, nullptr, 0};
  };
}

NumberFn given(std::string name) {
  return [name = std::move(name)](const Call& call) {
    const onedim_value_t* value = call.find_attribute(name);
    require(value != nullptr && value->kind != ONEDIM_VALUE_NONE,
            "the number to fill with is missing");
    return *value;
  };
}

void require_fits(const onedim_value_t& number, DType dtype) {
  if (!fits(number, dtype)) {
    fail(std::string("the number to fill with does not fit ") + name_of(dtype));
  }
}

void fill(const TensorView& out, const onedim_value_t& number) {
  if (is_bool(out.dtype())) {
    const std::vector<int64_t> flags(static_cast<size_t>(out.element_count()),
                                     as_complex(number) != 0.0);
    return store_dense(flags.data(), out);
  }
  const std::array in = {Operand{TensorView(), as_complex(number), &number}};
  with_compute_type<float, double, int64_t, std::complex<float>, Complex>(
      out.dtype(), [&]<typename C>(C) { map_elements<C>(out, in, [](C x) { return x; }); });
}

void constant_rules(const Call& call, RuleSink& rules, const onedim_value_t& number) {
  const TensorView out = call.output();
  std::vector<Placement> outputs = {replicate()};
  for (int dim = 0; dim < out.ndim(); ++dim) outputs.push_back(any_shard(dim));
  const Complex value = stored(number, out.dtype());
  const auto add = [&](std::string_view kind) {
    if (is_legal_partial(kind, out.dtype())) outputs.push_back(partial(kind));
  };
  if (value == 0.0) add("sum");
  if (value == 0.0 || value == 1.0) add("product");
  for (const Placement& output : outputs) {
    if (call.input_count() == 0)
      rules.add(std::span(&output, 1), {});
    else
      add_unread(call, rules, output);
  }
}

}  // namespace factory
