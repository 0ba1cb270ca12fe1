#pragma once
// Special functions are computed in double for all float dtypes; what lies outside their domain is
// NaN or infinite, never an error.

#include <boost/math/policies/policy.hpp>
#include <limits>

#include "float_functions.hpp"

namespace pointwise {

namespace policies = boost::math::policies;
using Quiet = policies::policy<
    policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>,
    policies::underflow_error<policies::ignore_error>,
    policies::denorm_error<policies::ignore_error>,
    policies::rounding_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>,
    policies::indeterminate_result_error<policies::ignore_error>, policies::promote_double<false>>;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Dtypes that ATen has no special functions for.
inline const uint64_t kNarrowFloats = kF8DTypes | dtype_bit(DType::kBF16) | dtype_bit(DType::kF16);

inline const std::initializer_list<std::string_view> kSpecialSamples = {
    "f64[5,7]", "f32[4,1,6]", "i64[3,5]", "bool[6]", "f64[6]", "f32[2,3]", "f64[3,2]"};

// As float_function, through double.
template <typename F>
OpBuilder& special_function(Registrar& r, std::string_view name, std::string_view summary, F f,
                            std::string_view argument = "self") {
  return float_function(r, name, summary, argument)
      .refuses(kNarrowFloats)
      .flops(50)
      .compute(FloatTypes{},
               [f](auto x) { return static_cast<decltype(x)>(f(static_cast<double>(x))); });
}

double hurwitz_zeta(double x, double q);  // sum of (q + k)^-x over k = 0, 1, ...

}  // namespace pointwise
