#include "core/validate/value_draw.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/validate/lanes.hpp"
#include "core/validate/number_grid.hpp"

namespace onedim {
namespace {

double signed_value(double magnitude, Random& random) {
  return random.chance(50) ? magnitude : -magnitude;
}

// What the values of one tensor are drawn by.
struct Drawing {
  DrawKind kind;
  NumberGrid grid;
  std::span<const double> constants;
  int power = 0;  // kLarge: of the tensor's scale

  Drawing(DType dtype, DrawKind of_kind, std::span<const double> of_constants, int most_power,
          Random& random)
      : kind(of_kind), grid(grid_of(dtype)), constants(of_constants) {
    // The largest scale crosses every threshold, the others come near to one.
    const int largest = std::min(grid.large_power, most_power);
    if (kind == DrawKind::kLarge && largest > 0)
      power = random.chance(50) ? largest : static_cast<int>(random.between(1, largest));
  }
  double value(Random& random) const;
  // At a constant or a little beside it.
  double near_constant(Random& random) const;
  double large_value(Random& random) const;
};

double Drawing::near_constant(Random& random) const {
  const double base = constants.empty()
                          ? static_cast<double>(random.between(-1, 1))
                          : constants[random.below(static_cast<int64_t>(constants.size()))];
  if (std::abs(base) > grid.reach) return grid.limit;
  const NumberGrid near = grid.around(std::abs(base));
  const double far = std::max(1.0, near.limit / 8);
  const std::array<double, 5> shifts = {0, 0, near.step, -near.step, signed_value(far, random)};
  const double value = base + random.pick<double>(shifts);
  const double step = grid.around(std::abs(value)).step;  // another beyond a power of two
  return std::clamp(std::round(value / step) * step, -grid.largest, grid.largest);
}

// Half of them spread evenly, half by orders of magnitude; all on the tensor's scaled grid.
double Drawing::large_value(Random& random) const {
  const int64_t steps = static_cast<int64_t>(grid.limit / grid.step);
  const double scale = std::ldexp(1.0, power);
  if (random.chance(50)) {
    if (!grid.is_integer)
      return static_cast<double>(random.between(-steps, steps)) * grid.step * scale;
    return static_cast<double>(random.between(-steps << power, steps << power));
  }
  const int low = std::ilogb(grid.step), high = std::ilogb(grid.limit);
  return signed_value(std::ldexp(scale, static_cast<int>(random.between(low, high))), random);
}

// One unconstrained value on the grid.
double Drawing::value(Random& random) const {
  const int64_t steps = static_cast<int64_t>(grid.limit / grid.step);
  switch (kind) {
    case DrawKind::kMixed:
      return static_cast<double>(random.between(-steps, steps)) * grid.step;
    case DrawKind::kTies: {
      static constexpr std::array<double, 6> kTies = {-2, -1, 0, 0, 1, 2};
      return random.pick<double>(kTies);
    }
    case DrawKind::kNegative:
      return -static_cast<double>(random.between(1, steps)) * grid.step;
    case DrawKind::kPositive:
      return static_cast<double>(random.between(1, steps)) * grid.step;
    case DrawKind::kFine:
      return (random.chance(50) ? 1 : -1) + static_cast<double>(random.between(-3, 3)) * grid.step;
    case DrawKind::kWide: {
      const int low = std::max(std::ilogb(grid.step), -3), high = std::ilogb(grid.wide);
      return signed_value(std::ldexp(1.0, static_cast<int>(random.between(low, high))), random);
    }
    case DrawKind::kIntegers:
      return static_cast<double>(random.between(-3, 3));
    case DrawKind::kLarge:
      return large_value(random);
    case DrawKind::kConstants:
      return near_constant(random);
  }
  return 0;
}

double power_of_two(double value) {
  return std::ldexp(1.0, std::clamp(std::ilogb(std::abs(value) + 1), 0, 16) - 2);
}

double nonfinite_value(double value, Random& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (random.chance(60)) return value;
  const std::array<double, 4> values = {std::numeric_limits<double>::quiet_NaN(), kInfinity,
                                        -kInfinity, 0};
  return random.pick<double>(values);
}

double real_of(const Value& value) {
  if (const int64_t* integer = value.get_if<int64_t>()) return static_cast<double>(*integer);
  if (const bool* flag = value.get_if<bool>()) return *flag;
  const double* real = value.get_if<double>();
  return real == nullptr ? 0 : *real;
}

// `value` moved into the domain, still on the grid.
double constrain(double value, const Domain& domain, const NumberGrid& grid, Random& random) {
  if (grid.powers_only) return power_of_two(value);
  if (!grid.is_signed) value = std::abs(value);
  if (domain.name == "positive") return value == 0 ? grid.step : std::abs(value);
  if (domain.name == "nonnegative") return std::abs(value);
  if (domain.name == "nonzero") return value == 0 ? 1 : value;
  if (domain.name == "unit") return grid.step < 1 ? std::remainder(value, 2) * 0.875 : 0;
  if (domain.name == "probability")
    return grid.step < 1 ? std::fmod(std::abs(value), 1.0) : random.below(2);
  if (domain.name == "nonfinite") return nonfinite_value(value, random);
  if (domain.name == "values")
    return real_of(domain.arguments[random.below(static_cast<int64_t>(domain.arguments.size()))]);
  return value;
}

// Spread, crowded, all equal: duplicates are what distinguishes many rules of indexed ops.
void draw_indices(int64_t bound, DrawKind kind, Random& random, std::vector<int64_t>& values) {
  const int64_t base = random.below(bound);
  for (size_t i = 0; i < values.size(); ++i) {
    if (kind == DrawKind::kTies)
      values[i] = std::min(bound - 1, base + random.below(2));
    else if (kind == DrawKind::kFine)
      values[i] = base;
    else if (kind == DrawKind::kWide)
      values[i] = static_cast<int64_t>(i) % bound;
    else
      values[i] = random.below(bound);
  }
}

// Ends of consecutive groups that fill [0, total]; groups may be empty.
void draw_offsets(int64_t total, Random& random, std::vector<int64_t>& values) {
  for (int64_t& value : values) value = random.between(0, total);
  std::sort(values.begin(), values.end());
  if (!values.empty()) values.back() = total;
}

// Shares of true, and a lone true or false among all others, on which `any` and `all` turn.
void draw_flags(DrawKind kind, Random& random, std::vector<int64_t>& values) {
  if (kind == DrawKind::kFine || kind == DrawKind::kWide) {
    const int64_t lone = kind == DrawKind::kWide;
    std::fill(values.begin(), values.end(), 1 - lone);
    if (!values.empty()) values[random.below(static_cast<int64_t>(values.size()))] = lone;
    return;
  }
  static constexpr std::array<int, kValueKindCount> kPercentTrue = {50, 50, 0,  0, 100,
                                                                    0,  50, 85, 15};
  for (int64_t& value : values) value = random.chance(kPercentTrue[static_cast<int>(kind)]);
}

// Most of the tensors of small integers are zero but for at most one element, and some of those of
// ties are zero: "some", "all" and counts turn on it. The element's index, `count` if there is
// none, -1 for the other tensors.
int64_t lone_nonzero(DrawKind kind, int64_t count, Random& random) {
  if (kind == DrawKind::kTies && random.chance(30)) return count;
  if (kind != DrawKind::kIntegers || count == 0 || random.chance(20)) return -1;
  return random.chance(60) ? count : random.below(count);
}

void draw_integers(const TensorMeta& meta, const Domain& domain, DrawKind kind,
                   std::span<const double> constants, int most_power, Random& random,
                   std::vector<int64_t>& values) {
  if (domain.name == "index")
    return draw_indices(std::max<int64_t>(1, static_cast<int64_t>(real_of(domain.arguments[0]))),
                        kind, random, values);
  if (domain.name == "offsets")
    return draw_offsets(static_cast<int64_t>(real_of(domain.arguments[0])), random, values);
  if (meta.dtype == DType::kBool && domain.name != "values")
    return draw_flags(kind, random, values);
  const Drawing drawing(meta.dtype, kind, constants, most_power, random);
  const int64_t count = static_cast<int64_t>(values.size());
  const int64_t lone = lone_nonzero(kind, count, random);
  for (int64_t i = 0; i < count; ++i) {
    const bool is_zero = lone >= 0 && i != lone;
    const double value = is_zero ? 0 : drawing.value(random);
    values[i] = static_cast<int64_t>(constrain(value, domain, drawing.grid, random));
  }
}

void collect_constants(const Value& value, std::vector<double>& constants) {
  if (const ValueList* list = value.get_if<ValueList>()) {
    for (const Value& item : *list) collect_constants(item, constants);
  } else if (value.get_if<int64_t>() != nullptr || value.get_if<double>() != nullptr) {
    const double number = real_of(value);
    if (std::isfinite(number)) constants.push_back(number);
  }
}

}  // namespace

std::vector<double> attribute_constants(const Call& call) {
  std::vector<double> constants;
  for (const auto& [name, value] : call.attributes) collect_constants(value, constants);
  return constants;
}

bool is_nonfinite_domain(const Domain& domain) { return domain.name == "nonfinite"; }

bool binds_local_values(const Domain& domain) {
  return domain.name == "index" || domain.name == "offsets";
}

Tensor draw_values(const TensorMeta& meta, const Domain& domain, DrawKind kind,
                   std::span<const double> constants, Random random, int most_power) {
  Tensor tensor = Tensor::zeros(meta);
  Lanes lanes;
  lanes.lane_class = lane_class_of(meta.dtype);
  const int64_t count = tensor.element_count();
  if (lanes.lane_class == LaneClass::kInteger) {
    lanes.integers.resize(count);
    draw_integers(meta, domain, kind, constants, most_power, random, lanes.integers);
  } else {
    const Drawing drawing(meta.dtype, kind, constants, most_power, random);
    lanes.reals.resize(lanes.lane_class == LaneClass::kComplex ? 2 * count : count);
    const int64_t lone = lone_nonzero(kind, static_cast<int64_t>(lanes.reals.size()), random);
    for (size_t i = 0; i < lanes.reals.size(); ++i) {
      const bool is_zero = lone >= 0 && static_cast<int64_t>(i) != lone;
      const double value = is_zero ? 0 : drawing.value(random);
      // One zero only: splits that add up to zero do not keep its sign.
      lanes.reals[i] = constrain(value, domain, drawing.grid, random) + 0.0;
    }
  }
  write_lanes(lanes, tensor);
  return tensor;
}

}  // namespace onedim
