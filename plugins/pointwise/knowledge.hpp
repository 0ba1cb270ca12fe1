#pragma once
// What can be said of an argument's values before they exist: numbers are known, tensors of bool
// are 0 or 1, unsigned ones are not negative. Rules that hold for some values only are emitted
// where this says so.

#include <array>
#include <complex>
#include <optional>
#include <string_view>

#include "families.hpp"

namespace pointwise {

struct Knowledge {
  bool nonnegative = false;
  bool nonpositive = false;
  bool is_flag = false;                        // 0 or 1: its own square
  std::optional<std::complex<double>> number;  // the same on all ranks

  bool is(double value) const { return number && *number == value; }
};

Knowledge know(const Call& call, std::string_view name);

// The sign of a real number; 0 for complex ones, which have none.
int sign_of(std::complex<double> number);

// The lowest and highest values of a dtype; infinities for floats.
struct Range {
  double lowest;
  double highest;
};
Range range_of(DType dtype);

// Adds what holds where the result is `name` itself; of flags it is a flag.
void add_identity(Families& families, const Call& call, std::string_view name);

// Adds what holds where the result is a flag that grows with the flag `name`.
void add_flag_result(Families& families, const Call& call, std::string_view name);

// Whether numbers >= 0 are above 0, or are 0: their sum is 0 if all are, their product if one is.
// The latter holds for all numbers.
inline constexpr std::array<KindPair, 3> kIsPositive = {
    {{"sum", "max"}, {"product", "min"}, {"product", "product"}}};
inline constexpr std::array<KindPair, 2> kIsZero = {{{"sum", "min"}, {"product", "max"}}};

// Adds what holds because `name` is multiplied by something of this sign (0: not known).
void add_scaled(Families& families, std::string_view name, int sign);

// factor[0] * names[0] + factor[1] * names[1]; an argument that is a number only adds a constant.
// No factor is 0 (see add_ignoring).
Families linear_combination(const Call& call, std::array<std::string_view, 2> names,
                            std::array<std::complex<double>, 2> factors);

// The output is that of `kept` alone whatever the tensors in `ignored` hold, which may then be
// partial in any of these ways.
struct Ignored {
  std::string_view name;
  KindTable kinds = kIdentity;
};
void add_ignoring(const Call& call, RuleSink& rules, std::string_view kept,
                  const std::vector<Ignored>& ignored);

}  // namespace pointwise
