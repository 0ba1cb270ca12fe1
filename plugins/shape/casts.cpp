// A cast f lets a kind r through as s where f(r_i x_i) = s_i f(x_i). Widening of floats passes all
// kinds; integers wrap around, so sums and products pass to integers as narrow or narrower only;
// truncation, rounding and the reading of a bool as 0 or 1 are monotone, and so is a change of
// integers between values that both dtypes have; nonzero is monotone on what is never negative.
//   i64 -> i32: P(sum) | P(sum);  i32 -> i64: P(max) | P(max);  f64 -> i32: P(max) | P(max)

#include "casts.hpp"

namespace shape {
namespace {

template <typename F>
void with_loaded(DType dtype, F&& f) {
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      dtype, std::forward<F>(f));
}

// Of two integer dtypes.
bool passes_integer_cast(std::string_view kind, DType from, DType to) {
  if (kind == "sum" || kind == "product") return size_of(to) <= size_of(from);
  return to != DType::kU8;  // which has no negative values
}

}  // namespace

std::string_view kind_before_cast(std::string_view kind, DType from, DType to) {
  const bool is_order = kind == "max" || kind == "min";
  if (from == to) return kind;
  if (is_bool(to)) return is_order && from == DType::kU8 ? kind : "";
  if (is_bool(from)) return is_order ? kind : kind == "product" ? "min" : "";
  if (is_complex(from)) return is_complex(to) || kind == "sum" || kind == "avg" ? kind : "";
  if (is_integral(from) && is_integral(to)) return passes_integer_cast(kind, from, to) ? kind : "";
  if (is_order) return is_complex(to) ? "" : kind;
  // Sums and products of integers wrap around, those of floats do not.
  if (is_integral(from) || is_integral(to)) return "";
  return kind;
}

uint64_t cast_flags(std::string_view kind, DType from, DType to) {
  const bool adds = kind == "sum" || kind == "avg" || kind == "product";
  const bool rounds = from != to && (is_floating(from) || is_complex(from));
  return adds && rounds ? ONEDIM_RULE_TO_ROUNDING : 0;
}

void convert(const TensorView& from, const TensorView& to) {
  with_loaded(from.dtype(), [&]<typename C>(C) {
    map_elements<C>(to, std::array{Operand{from, {}, nullptr}}, [](C x) { return x; });
  });
}

void convert_dense(const TensorView& from, DType dtype, std::byte* to) {
  with_loaded(from.dtype(), [&]<typename C>(C) {
    const std::vector<C> values = load_dense<C>(from);
    store_row(dtype, values.data(), 1, from.element_count(), to);
  });
}

}  // namespace shape
