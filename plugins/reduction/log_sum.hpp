#pragma once
// The logarithm of a sum of exponentials, as a pair (max m, sum s of exp(x - m)). Pairs merge by
// rescaling to the larger m and adding; (-inf, 0) is neutral, also with itself. Of complex elements
// m is the largest real part, and s is complex.
//   1 2 | 3: (2, 1 + e^-1) and (3, 1) give (3, e^-1 + e^-2 + 1), hence 3 + log(1.503) = 3.408

#include <cmath>
#include <limits>

#include "lines.hpp"

namespace reduction {

template <typename T>
struct LogSum {
  double max = -std::numeric_limits<double>::infinity();
  T sum = 0;

  LogSum() = default;
  LogSum(double of_max, T of_sum) : max(of_max), sum(of_sum) {}
  explicit LogSum(const T& x) : max(std::real(x)) {
    if constexpr (std::is_same_v<T, double>)
      sum = 1;
    else
      sum = std::polar(1.0, x.imag());
  }
  T log() const { return max + std::log(sum); }
};

template <typename T>
LogSum<T> merge(const LogSum<T>& a, const LogSum<T>& b) {
  if (std::isnan(a.max) || b.max < a.max) return a.max == a.max ? merge(b, a) : a;
  // Now b.max is the larger, or NaN.
  const double scale = a.max == b.max ? 1 : std::exp(a.max - b.max);
  return {b.max, a.sum * scale + b.sum};
}

// Calls f with a zero of double, or of complex for complex dtypes.
template <typename F>
void with_log_sum_type(DType dtype, F&& f) {
  if (is_complex(dtype))
    f(std::complex<double>());
  else
    f(0.0);
}

template <typename T>
void store_log_sums(const std::vector<LogSum<T>>& sums, States states) {
  std::vector<double> max;
  std::vector<T> sum;
  for (const LogSum<T>& pair : sums) {
    max.push_back(pair.max);
    sum.push_back(pair.sum);
  }
  store_dense(max.data(), TensorView(&states[0]));
  store_dense(sum.data(), TensorView(&states[1]));
}

template <typename T>
void store_logs(const std::vector<LogSum<T>>& sums, const TensorView& out) {
  std::vector<T> logs;
  for (const LogSum<T>& pair : sums) logs.push_back(pair.log());
  store_dense(logs.data(), out);
}

// A joint partial of one output whose state is such a pair for each element.
void declare_log_sum_kind(Registrar& r, std::string_view name,
                          std::function<void(const Call&, States)> local);

}  // namespace reduction
