#include "core/validate/partial_split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/validate/lanes.hpp"
#include "core/validate/number_grid.hpp"

namespace onedim {
namespace {

// What decides a variant: which rank owns an element, and what the others get.
enum Variant {
  kRandom,
  kOffsets,
  kElementOwner,
  kMultiples,
  kFractions,
  kOneOwner,
  kSignChange,
  kPieceOwner
};
static_assert(kOneOwner == kOneOwnerVariant && kPieceOwner + 1 == kSplitVariantCount);

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Everything the split of one element may depend on. T is double or int64_t.
template <typename T>
struct Splitter {
  NumberGrid ordinary;  // of the dtype
  double magnitude;     // the largest of the tensor: zeros are split as widely
  int64_t world;
  int variant;
  bool nonnegative;  // unsigned dtypes and indices: no local value below 0
  T bound;           // indices: local values stay below it; 0: no bound
  bool nonfinite;    // the domain has infinities
  Random random;
  NumberGrid grid = ordinary;  // of the element that is split

  void scale_to(T value) {
    const double size = std::abs(static_cast<double>(value));
    grid = ordinary.around(size == 0 ? magnitude : size);
  }
  T on_grid(double low, double high) {
    const int64_t from = static_cast<int64_t>(low / grid.step),
                  to = static_cast<int64_t>(high / grid.step);
    return static_cast<T>(static_cast<double>(random.between(from, std::max(from, to))) *
                          grid.step);
  }
  T signed_part() { return on_grid(nonnegative ? 0 : -grid.limit, grid.limit); }
};

template <typename T>
constexpr T kSumIdentity = static_cast<T>(-0.0);

// parts += a split of zero: random parts, or +-offset, whose last takes the rest. Parts of a sign
// that would let the rest grow take the other one.
template <typename T>
void add_zero_sum(Splitter<T>& s, std::span<T> parts) {
  T rest = 0;
  const bool starts_negative = s.random.chance(50);
  for (size_t rank = 0; rank + 1 < parts.size(); ++rank) {
    T part = s.signed_part();
    if (std::abs(static_cast<double>(rest + part)) > s.grid.limit) part = -part;
    const bool negative =
        (rank % 2 == 1) != starts_negative;  // in turns, so that the rest stays small
    if (s.variant == kOffsets) part = static_cast<T>(negative ? -s.grid.offset : s.grid.offset);
    parts[rank] += part;
    rest += part;
  }
  parts.back() -= rest;
}

// Multiples by powers of two that sum to one: 2, -1 | 2, -2, 1 | 2, -1, 1, -1 ...
template <typename T>
void multiples(T value, std::span<T> parts) {
  const bool odd = parts.size() % 2 == 1;
  T rest = value;
  for (size_t rank = 0; rank + 1 < parts.size(); ++rank) {
    const T factor = static_cast<T>(rank == 0 ? 2 : rank == 1 && odd ? -2 : rank % 2 == 1 ? -1 : 1);
    parts[rank] = factor * value;
    rest -= parts[rank];
  }
  parts.back() = rest;
}

// Halves: exact for floats, rounded down for integers with the rest on the last.
template <typename T>
void fractions(T value, std::span<T> parts) {
  for (size_t rank = 0; rank + 1 < parts.size(); ++rank) {
    parts[rank] = value / 2;
    value -= parts[rank];
  }
  parts.back() = value;
}

// A split of a value whose parts may not be negative.
template <typename T>
void partition(Splitter<T>& s, T value, std::span<T> parts) {
  for (size_t rank = 0; rank + 1 < parts.size(); ++rank) {
    parts[rank] = s.on_grid(0, static_cast<double>(value));
    value -= parts[rank];
  }
  parts.back() = value;
}

template <typename T>
void split_sum(Splitter<T>& s, T value, int64_t owner, std::span<T> parts) {
  if (s.grid.powers_only) return fractions(value, parts);
  switch (s.variant) {
    case kRandom:
    case kOffsets:
    case kSignChange:
      if (s.nonnegative) return partition(s, value, parts);
      std::fill(parts.begin(), parts.end(), T{0});
      parts[owner] = s.variant == kSignChange ? -value : value;
      if (s.variant == kSignChange)
        parts[(owner + 1) % s.world] = parts.size() > 1 ? value + value : value;
      else
        add_zero_sum(s, parts);
      return;
    case kMultiples:
      if (s.nonnegative) return partition(s, value, parts);
      return multiples(value, parts);
    case kFractions:
      return fractions(value, parts);
    default:
      std::fill(parts.begin(), parts.end(), kSumIdentity<T>);
      parts[owner] = value;
  }
}

// Powers of two whose mean is one: a double and two halves, the rest equal. Two ranks only have
// equal ones.
template <typename T>
void powers_with_mean(T value, int64_t owner, std::span<T> parts) {
  const int64_t world = static_cast<int64_t>(parts.size());
  if (world < 3) return;
  parts[owner] = value + value;
  parts[(owner + 1) % world] = parts[(owner + 2) % world] = value / 2;
}

// Locals whose mean is the value: the value plus a split of zero, or multiples that sum to `world`.
template <typename T>
void split_avg(Splitter<T>& s, T value, int64_t owner, std::span<T> parts) {
  const T count = static_cast<T>(s.world);
  std::fill(parts.begin(), parts.end(), value);
  if (s.variant == kOneOwner) return;
  if (s.grid.powers_only) return powers_with_mean(value, owner, parts);
  switch (s.variant) {
    case kElementOwner:
    case kPieceOwner:
      if (std::abs(static_cast<double>(count * value)) > s.grid.largest)
        return add_zero_sum(s, parts);
      std::fill(parts.begin(), parts.end(), T{0});
      parts[owner] = count * value;
      return;
    case kMultiples:
    case kFractions:
      parts[owner] = value + value;
      parts[(owner + 1) % s.world] = parts.size() > 1 ? T{0} : value;
      return;
    case kSignChange:
      parts[owner] = -value;
      parts[(owner + 1) % s.world] = parts.size() > 1 ? 3 * value : value;
      return;
    default:
      add_zero_sum(s, parts);
  }
}

// How far a rank that does not decide lies from the value, >= 0.
template <typename T>
T gap(Splitter<T>& s, T value) {
  switch (s.variant) {
    case kOffsets:  // integers stay where functions of them do not wrap around
      return static_cast<T>(std::is_same_v<T, double> ? s.grid.offset : 2 * s.grid.limit);
    case kFractions:
    case kPieceOwner:
      return s.random.chance(50) ? T{0} : static_cast<T>(s.grid.step);  // ties
    case kSignChange:
      return (value < 0 ? -value : value) * 2 +
             static_cast<T>(s.grid.step);  // beyond the other sign
    case kMultiples:
      return value < 0 ? -value : value;  // the double, or zero
    default:
      return s.on_grid(0, s.grid.limit);
  }
}

template <typename T>
void split_extreme(Splitter<T>& s, T value, bool is_max, int64_t owner, std::span<T> parts) {
  for (T& part : parts) {
    const T distance = s.variant == kOneOwner ? T{0} : gap(s, value);  // R -> P(max) keeps all
    part = is_max ? value - distance : value + distance;
    part = std::clamp(part, static_cast<T>(-s.grid.largest), static_cast<T>(s.grid.largest));
    if (s.nonnegative && part < 0) part = 0;
    if (s.bound > 0 && part >= s.bound) part = s.bound - 1;
    if constexpr (std::is_same_v<T, double>) {
      if (s.nonfinite && s.random.chance(30)) part = is_max ? -kInfinity : kInfinity;
    }
    if (s.grid.powers_only)
      part = is_max && distance != 0 ? value / 2 : distance != 0 ? value * 2 : value;
  }
  parts[owner] = value;
}

// Exact for floats while factors are powers of two; integers take a divisor of the value instead.
template <typename T>
T product_factor(Splitter<T>& s, T value) {
  const bool negative = !s.nonnegative && !s.grid.powers_only && s.random.chance(50);
  const T sign = static_cast<T>(negative ? -1 : 1);
  if constexpr (std::is_same_v<T, double>) {
    const double rounded = std::rint(value / 3) * 3;
    if (s.variant == kMultiples && rounded == value && !s.grid.powers_only) return sign * 3;
    return sign * std::ldexp(1.0, static_cast<int>(s.random.between(-1, 1)));
  } else {
    if (s.variant == kMultiples && value % 3 == 0) return sign * 3;
    return value % 2 == 0 && s.random.chance(60) ? sign * 2 : sign;
  }
}

// A product that is zero has a sign, on which ops that copy signs depend.
void keep_sign_of_zero(double value, double& own, std::span<const double> parts) {
  if (value != 0) return;
  double product = 1;
  for (const double part : parts) product *= part;
  if (std::signbit(product) != std::signbit(value)) own = -own;
}

template <typename T>
void split_product(Splitter<T>& s, T value, int64_t owner, std::span<T> parts) {
  std::fill(parts.begin(), parts.end(), T{1});
  parts[owner] = value;
  const bool identity_filled =
      s.variant == kElementOwner || s.variant == kOneOwner || s.variant == kPieceOwner;
  if (identity_filled || s.world == 1 || (s.bound > 0 && value != 0)) return;
  for (int64_t step = 1; step < s.world; ++step) {
    T& other = parts[(owner + step) % s.world];
    T& own = parts[owner];
    if (own == 0) {
      other = s.bound > 0 ? s.on_grid(0, static_cast<double>(s.bound - 1))
                          : static_cast<T>(s.grid.powers_only ? 1 : s.signed_part());
      continue;
    }
    other = s.variant == kSignChange && !s.nonnegative ? T{-1} : product_factor(s, own);
    own /= other;
  }
  if constexpr (std::is_same_v<T, double>) keep_sign_of_zero(value, parts[owner], parts);
}

template <typename T>
void split_element(Splitter<T>& s, std::string_view kind, T value, int64_t owner,
                   std::span<T> parts) {
  if (kind == "sum" || kind == "avg") {
    // Multiples of zero are zeros: what tells zero from what adds up to it needs other parts.
    // Multiples beyond the dtype's range are none.
    const bool scales =
        s.variant == kMultiples || s.variant == kFractions || s.variant == kSignChange;
    const bool is_free = value == 0 || std::abs(static_cast<double>(value)) > s.grid.largest / 3;
    const bool is_zero = s.magnitude == 0 && s.variant != kOneOwner;  // and so is all the tensor
    const int variant =
        std::exchange(s.variant, is_zero || (is_free && scales) ? kRandom : s.variant);
    if (kind == "sum")
      split_sum(s, value, owner, parts);
    else
      split_avg(s, value, owner, parts);
    s.variant = variant;
    return;
  }
  if (kind == "product") return split_product(s, value, owner, parts);
  split_extreme(s, value, kind == "max", owner, parts);
}

// Non-finite values: NaN comes from a NaN or from what the kind makes of infinities, and hides
// infinities from max and min; infinities stay on the owner beside finite values, and factors may
// turn their sign; a finite max may hide -inf.
void split_nonfinite(Splitter<double>& s, std::string_view kind, double value, int64_t owner,
                     std::span<double> parts) {
  for (double& part : parts) part = s.signed_part();
  parts[owner] = value;
  const int64_t next = (owner + 1) % s.world;
  const bool linear = kind == "sum" || kind == "avg";
  if (std::isnan(value)) {
    if (parts.size() < 2 || !s.random.chance(50)) return;
    if (linear) parts[owner] = kInfinity, parts[next] = -kInfinity;
    if (kind == "product") parts[owner] = kInfinity, parts[next] = 0;
    if (kind == "max" || kind == "min") parts[next] = s.random.chance(50) ? kInfinity : -kInfinity;
    return;
  }
  const bool hides = (kind == "max" && value < 0) || (kind == "min" && value > 0);
  if (hides) std::fill(parts.begin(), parts.end(), value);
  if (kind == "product") {
    std::fill(parts.begin(), parts.end(), 2.0);
    parts[owner] = value;
    if (parts.size() > 1 && s.random.chance(50)) parts[owner] = -value, parts[next] = -2.0;
  }
}

// Owner of each element: a hash, a chunk of some dim, or one rank for all.
std::vector<int64_t> owners(const Dims& shape, int64_t world, int variant, uint64_t key) {
  const int64_t count = volume(shape);
  Random random(mix_key(key, 1));
  std::vector<int64_t> ranks(count);
  if (variant == kOneOwner) {
    std::fill(ranks.begin(), ranks.end(), random.chance(60) ? 0 : random.below(world));
    return ranks;
  }
  const bool by_piece = variant == kPieceOwner && !shape.empty() && count > 0;
  if (!by_piece) {
    for (int64_t& rank : ranks) rank = random.below(world);
    return ranks;
  }
  const int dim = static_cast<int>(random.below(static_cast<int64_t>(shape.size())));
  int64_t inner = 1;
  for (size_t d = dim + 1; d < shape.size(); ++d) inner *= shape[d];
  const int64_t chunk = (shape[dim] + world - 1) / world;
  for (int64_t i = 0; i < count; ++i) ranks[i] = (i / inner) % shape[dim] / chunk;
  return ranks;
}

// Splits `values`; parts of rank r go to locals[r].
template <typename T>
void split_all(Splitter<T>& s, std::string_view kind, const std::vector<T>& values,
               const std::vector<int64_t>& owner, std::vector<std::vector<T>*> locals) {
  std::vector<T> parts(s.world);
  const int64_t per_owner = owner.empty() ? 1 : static_cast<int64_t>(values.size() / owner.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t rank = owner[i / per_owner];
    bool done = false;
    if constexpr (std::is_same_v<T, double>) {
      if (!std::isfinite(values[i])) split_nonfinite(s, kind, values[i], rank, parts), done = true;
    }
    if (!done) {
      s.scale_to(values[i]);
      split_element(s, kind, values[i], rank, std::span<T>(parts));
    }
    for (int64_t r = 0; r < s.world; ++r) (*locals[r])[i] = parts[r];
  }
}

// Complex products: one rank keeps the value, the others hold units whose product one of them
// undoes.
void split_complex_product(const std::vector<double>& values, const std::vector<int64_t>& owner,
                           int variant, Random random, std::vector<std::vector<double>*> locals) {
  const int64_t world = static_cast<int64_t>(locals.size());
  for (size_t i = 0; i < owner.size(); ++i) {
    for (std::vector<double>* local : locals) (*local)[2 * i] = 1, (*local)[2 * i + 1] = 0;
    double re = values[2 * i], im = values[2 * i + 1];
    const bool turns =
        world > 1 && variant != kElementOwner && variant != kOneOwner && variant != kPieceOwner;
    if (turns) {
      std::vector<double>& other = *locals[(owner[i] + 1) % world];
      const bool quarter = random.chance(50);
      const double scale = random.chance(50) ? 2 : 1;
      if (quarter) {  // times i there, times -i here
        other[2 * i] = 0, other[2 * i + 1] = scale;
        std::swap(re, im);
        im = -im;
      } else {
        other[2 * i] = -scale;
        re = -re, im = -im;
      }
      re /= scale, im /= scale;
    }
    (*locals[owner[i]])[2 * i] = re, (*locals[owner[i]])[2 * i + 1] = im;
  }
}

// bool: max is or, min is and; the others of a decided element are free.
void split_flags(const std::vector<int64_t>& values, bool is_max, const std::vector<int64_t>& owner,
                 int variant, Random random, std::vector<std::vector<int64_t>*> locals) {
  const int percent = variant == kOneOwner ? 100 : variant == kElementOwner ? 0 : 50;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool decided = (values[i] != 0) == is_max;
    for (std::vector<int64_t>* local : locals) {
      (*local)[i] = !decided || random.chance(percent) ? values[i] : !values[i];
    }
    (*locals[owner[i]])[i] = values[i];
  }
}

// Half of 2^w more on two ranks, or an odd factor on one and its inverse modulo 2^w on the next.
void wrap_around(DType dtype, std::string_view kind, const std::vector<int64_t>& owner,
                 std::vector<std::vector<int64_t>*> locals) {
  constexpr uint64_t kThird = 0xaaaaaaaaaaaaaaabu;  // 3 * kThird == 1 modulo 2^64
  const uint64_t half = uint64_t{1} << (8 * size_of(dtype) - 1);
  for (size_t i = 0; i < owner.size(); ++i) {
    int64_t& own = (*locals[owner[i]])[i];
    int64_t& next = (*locals[(owner[i] + 1) % locals.size()])[i];
    if (kind == "sum") {
      own = static_cast<int64_t>(static_cast<uint64_t>(own) + half);
      next = static_cast<int64_t>(static_cast<uint64_t>(next) + half);
    } else if (kind == "product") {
      own = static_cast<int64_t>(static_cast<uint64_t>(own) * 3);
      next = static_cast<int64_t>(static_cast<uint64_t>(next) * kThird);
    }
  }
}

template <typename T>
Splitter<T> make_splitter(DType dtype, const std::vector<T>& values, int64_t world, int variant,
                          const Domain& domain, uint64_t key) {
  const NumberGrid grid = grid_of(dtype);
  double magnitude = 0;
  for (const T value : values) {
    const double size = std::abs(static_cast<double>(value));
    if (std::isfinite(size)) magnitude = std::max(magnitude, size);
  }
  T bound = 0;
  if (binds_local_values(domain)) {
    if (const int64_t* limit = domain.arguments[0].get_if<int64_t>())
      bound = static_cast<T>(*limit);
  }
  return {grid,
          magnitude,
          world,
          variant,
          !grid.is_signed || bound > 0,
          bound,
          is_nonfinite_domain(domain),
          Random(mix_key(key, 2))};
}

}  // namespace

std::vector<Tensor> split_partial(const Tensor& global, std::string_view kind, int64_t world,
                                  const Domain& domain, const SplitOptions& options) {
  const int variant = options.variant % kSplitVariantCount;
  const uint64_t key = options.key;
  const DType dtype = global.dtype();
  Lanes values;
  read_lanes(global, values);
  const std::vector<int64_t> owner = owners(global.shape(), world, variant, key);
  std::vector<Lanes> parts(world, values);
  std::vector<std::vector<double>*> reals;
  std::vector<std::vector<int64_t>*> integers;
  for (Lanes& part : parts) reals.push_back(&part.reals), integers.push_back(&part.integers);
  if (dtype == DType::kBool) {
    split_flags(values.integers, kind == "max", owner, variant, Random(mix_key(key, 3)), integers);
  } else if (values.lane_class == LaneClass::kInteger) {
    auto splitter = make_splitter<int64_t>(dtype, values.integers, world, variant, domain, key);
    split_all(splitter, kind, values.integers, owner, integers);
    if (options.wraps && world > 1 && splitter.bound == 0)
      wrap_around(dtype, kind, owner, integers);
  } else if (values.lane_class == LaneClass::kComplex && kind == "product") {
    split_complex_product(values.reals, owner, variant, Random(mix_key(key, 3)), reals);
  } else {
    auto splitter = make_splitter<double>(dtype, values.reals, world, variant, domain, key);
    split_all(splitter, kind, values.reals, owner, reals);
  }
  std::vector<Tensor> locals;
  for (const Lanes& part : parts) {
    locals.push_back(Tensor::zeros(dtype, global.shape()));
    write_lanes(part, locals.back());
  }
  return locals;
}

}  // namespace onedim
