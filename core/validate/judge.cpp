#include "core/validate/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onedim {
namespace {

// What joins the local values of one element.
enum class Join { kSum, kAvg, kMax, kMin, kProduct };

Join join_of(const Placement& placement) {
  if (placement.is_partial("sum")) return Join::kSum;
  if (placement.is_partial("avg")) return Join::kAvg;
  if (placement.is_partial("max")) return Join::kMax;
  return placement.is_partial("min") ? Join::kMin : Join::kProduct;
}

// Outcome of one element: not judged, or right, or wrong.
enum class Element { kSkipped, kRight, kWrong };

struct RealJudge {
  const ErrorModel& model;
  double absolute;
  double largest_factor;  // of products, see largest_factor_of

  Element compare(double got, double truth, double magnitude) const {
    if (got == truth) return Element::kRight;
    if (std::isnan(got) || std::isnan(truth)) {
      return std::isnan(got) && std::isnan(truth) ? Element::kRight : Element::kWrong;
    }
    if (std::isinf(got) || std::isinf(truth)) return Element::kWrong;
    const double error = std::abs(got - truth);
    return error <= model.relative * (std::abs(truth) + magnitude) + absolute ? Element::kRight
                                                                              : Element::kWrong;
  }
  // Whether an infinite result says nothing: joins may overflow on the way, copies may not.
  bool skips_infinite(bool is_copy) const {
    return !model.nonfinite && !(is_copy && model.finite_inputs);
  }
  // One copy of an element, as R and shards have it.
  Element copy(double got, double truth) const {
    if (!model.nonfinite && !std::isfinite(truth)) return Element::kSkipped;
    if (std::isinf(got) && skips_infinite(true)) return Element::kSkipped;
    return compare(got, truth, 0);
  }
};

double join_pair(Join join, double a, double b) {
  switch (join) {
    case Join::kSum:
    case Join::kAvg:
      return a + b;
    case Join::kProduct:
      return a * b;
    case Join::kMax:
      return std::isnan(a) || a >= b ? a : b;  // NaN wins either way: a >= NaN is false
    case Join::kMin:
      return std::isnan(a) || a <= b ? a : b;
  }
  return a;
}

// What the roundings of the local values may add up to in the joined one. A maximum and a minimum
// are local values; so, but for its own roundings, is a product's relative error.
double joined_magnitude(Join join, double joined, double sum_of_locals, size_t world) {
  if (join == Join::kSum) return sum_of_locals;
  if (join == Join::kAvg) return sum_of_locals / static_cast<double>(world);
  return std::abs(joined);
}

double magnitude_at(const Lanes& lanes, size_t index) {
  if (lanes.lane_class == LaneClass::kReal) return std::abs(lanes.reals[index]);
  return std::hypot(lanes.reals[2 * index], lanes.reals[2 * index + 1]);
}

// Whether a product that differs does so by underflow: truth and product are both below what the
// dtype holds, or the other local factors leave less than that for one of them, or the small
// factors together are below what a join in f64 holds.
bool may_underflow(const RealJudge& judge, double truth, std::span<const Lanes> locals,
                   size_t index) {
  const double smallest = 4 / judge.model.range;
  long double product = 1, others = 1, small = 1;  // with room for what overflows on the way
  for (const Lanes& lanes : locals) {
    const double local = magnitude_at(lanes, index);
    product *= local;
    if (local >= smallest) others *= local;
    if (local > 0 && local < 1) small *= local;
  }
  if (small < std::numeric_limits<double>::min()) return true;
  truth = std::abs(truth);
  return (truth < smallest && product < smallest) || (truth != 0 && truth / others < smallest);
}

Element judge_joined(const RealJudge& judge, Join join, double truth, std::span<const Lanes> locals,
                     size_t index) {
  if (!judge.model.nonfinite && !std::isfinite(truth)) return Element::kSkipped;
  double joined = locals[0].reals[index];
  double magnitude = std::abs(joined);
  bool infinite = std::isinf(joined);
  for (size_t rank = 1; rank < locals.size(); ++rank) {
    const double local = locals[rank].reals[index];
    joined = join_pair(join, joined, local);
    magnitude += std::abs(local);
    infinite |= std::isinf(local);
  }
  if (join == Join::kAvg) joined /= static_cast<double>(locals.size());
  if (!judge.model.nonfinite && (infinite || std::isinf(joined))) return Element::kSkipped;
  const Element element =
      judge.compare(joined, truth, joined_magnitude(join, joined, magnitude, locals.size()));
  const bool underflows = element == Element::kWrong && join == Join::kProduct &&
                          may_underflow(judge, truth, locals, index);
  return underflows ? Element::kSkipped : element;
}

// Complex numbers are compared by magnitude; only sum, avg, product and copies exist. A copy is the
// join of one.
Element judge_complex(const RealJudge& judge, const Placement& placement,
                      std::complex<double> truth, std::span<const Lanes> locals, size_t index) {
  std::complex<double> joined{locals[0].reals[2 * index], locals[0].reals[2 * index + 1]};
  double magnitude = std::abs(joined);
  double largest = magnitude;
  for (size_t rank = 1; rank < locals.size(); ++rank) {
    const std::complex<double> local{locals[rank].reals[2 * index],
                                     locals[rank].reals[2 * index + 1]};
    joined = placement.is_partial("product") ? joined * local : joined + local;
    magnitude += std::abs(local);
    largest = std::max(largest, std::abs(local));
  }
  if (placement.is_partial("product") && !judge.model.nonfinite && largest > judge.largest_factor)
    return Element::kSkipped;
  if (placement.is_partial("avg")) {
    joined /= static_cast<double>(locals.size());
    magnitude /= static_cast<double>(locals.size());
  }
  if (placement.is_partial("product")) magnitude = std::abs(joined);
  const bool is_infinite = std::isinf(std::abs(joined)) || std::isinf(magnitude);
  const bool finite = std::isfinite(std::abs(truth)) && !is_infinite;
  if (!judge.model.nonfinite && !std::isfinite(std::abs(truth))) return Element::kSkipped;
  if (is_infinite && judge.skips_infinite(!placement.is_partial())) return Element::kSkipped;
  if (!finite || std::isnan(std::abs(joined))) {
    const Element real = judge.compare(joined.real(), truth.real(), 0);
    return real == Element::kRight ? judge.compare(joined.imag(), truth.imag(), 0) : real;
  }
  const double error = std::abs(joined - truth);
  const double allowed = judge.model.relative * (std::abs(truth) + magnitude) + judge.absolute;
  if (error <= allowed) return Element::kRight;
  return placement.is_partial("product") && may_underflow(judge, std::abs(truth), locals, index)
             ? Element::kSkipped
             : Element::kWrong;
}

int64_t wrap(DType dtype, uint64_t value) {
  switch (size_of(dtype)) {
    case 1:
      return dtype == DType::kU8 ? static_cast<int64_t>(static_cast<uint8_t>(value))
                                 : static_cast<int64_t>(static_cast<int8_t>(value));
    case 2:
      return static_cast<int16_t>(value);
    case 4:
      return static_cast<int32_t>(value);
    default:
      return static_cast<int64_t>(value);
  }
}

int64_t join_integers(Join join, DType dtype, std::span<const Lanes> locals, size_t index) {
  int64_t joined = locals[0].integers[index];
  for (size_t rank = 1; rank < locals.size(); ++rank) {
    const int64_t local = locals[rank].integers[index];
    const uint64_t a = static_cast<uint64_t>(joined), b = static_cast<uint64_t>(local);
    if (join == Join::kMax)
      joined = std::max(joined, local);
    else if (join == Join::kMin)
      joined = std::min(joined, local);
    else
      joined = static_cast<int64_t>(join == Join::kProduct ? a * b : a + b);
  }
  return dtype == DType::kBool ? joined : wrap(dtype, static_cast<uint64_t>(joined));
}

// Roundings of a kernel, in units of epsilon: generous where digits abound, few where they are
// scarce.
double slack_of(double epsilon) {
  if (epsilon <= epsilon_of(DType::kF64)) return 0x1p21;
  if (epsilon <= epsilon_of(DType::kF32)) return 0x1p9;
  return epsilon <= epsilon_of(DType::kBF16) ? 4 : 1.5;
}

struct Tally {
  bool judged = false;
  // False: the element is wrong and the verdict is known.
  bool add(Element element) {
    judged |= element != Element::kSkipped;
    return element != Element::kWrong;
  }
  Judgement verdict() const { return judged ? Judgement::kHolds : Judgement::kNothingJudged; }
};

Judgement fails(Mismatch* mismatch, int64_t element, int64_t rank) {
  if (mismatch != nullptr) *mismatch = {element, rank};
  return Judgement::kFails;
}

Element judge_copy(const RealJudge& judge, const Truth& truth, std::span<const Lanes> local,
                   size_t at, size_t from) {
  if (truth.lanes.lane_class == LaneClass::kInteger) {
    return local[0].integers[at] == truth.lanes.integers[from] ? Element::kRight : Element::kWrong;
  }
  if (truth.lanes.lane_class == LaneClass::kReal)
    return judge.copy(local[0].reals[at], truth.lanes.reals[from]);
  const std::complex<double> value{truth.lanes.reals[2 * from], truth.lanes.reals[2 * from + 1]};
  return judge_complex(judge, Placement::replicate(), value, local, at);
}

// R (owned empty) and shards.
Judgement judge_copies(const RealJudge& judge, const Truth& truth,
                       std::span<const std::vector<int32_t>> owned, std::span<const Lanes> locals,
                       Mismatch* mismatch) {
  Tally tally;
  const int64_t total = truth.lanes.count();
  for (size_t rank = 0; rank < locals.size(); ++rank) {
    const int64_t count = owned.empty() ? total : static_cast<int64_t>(owned[rank].size());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t from = owned.empty() ? i : owned[rank][i];
      if (!tally.add(judge_copy(judge, truth, locals.subspan(rank, 1), i, from))) {
        return fails(mismatch, from, static_cast<int64_t>(rank));
      }
    }
  }
  if (total == 0) tally.judged = true;
  return tally.verdict();
}

Judgement judge_partial(const RealJudge& judge, const Placement& placement, const Truth& truth,
                        std::span<const Lanes> locals, Mismatch* mismatch) {
  Tally tally;
  const Join join = join_of(placement);
  const int64_t total = truth.lanes.count();
  for (int64_t i = 0; i < total; ++i) {
    Element element = Element::kRight;
    switch (truth.lanes.lane_class) {
      case LaneClass::kInteger:
        if (join_integers(join, truth.dtype, locals, i) != truth.lanes.integers[i])
          element = Element::kWrong;
        break;
      case LaneClass::kReal:
        element = judge_joined(judge, join, truth.lanes.reals[i], locals, i);
        break;
      case LaneClass::kComplex:
        element = judge_complex(
            judge, placement, {truth.lanes.reals[2 * i], truth.lanes.reals[2 * i + 1]}, locals, i);
    }
    if (!tally.add(element)) return fails(mismatch, i, -1);
  }
  if (total == 0) tally.judged = true;
  return tally.verdict();
}

// Over the finite local values; 0 for integers.
double largest_of(std::span<const Lanes> locals) {
  double largest = 0;
  for (const Lanes& lanes : locals) {
    for (const double value : lanes.reals) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
  }
  return largest;
}

double range_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kC128:
      return 0x1p1023;
    case DType::kF16:
    case DType::kF8E5M2:
      return 0x1p16;
    case DType::kF8E4M3FN:
      return 0x1p9;
    default:
      return 0x1p127;
  }
}

// The smallest number above 0; that of wider dtypes is too small to matter.
double gap_of(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-24;
    case DType::kF8E5M2:
      return 0x1p-16;
    case DType::kF8E4M3FN:
      return 0x1p-9;
    case DType::kBF16:
      return 0x1p-133;
    default:
      return is_floating(dtype) && size_of(dtype) == 4 ? 0x1p-149 : 0;
  }
}

// Beyond this, the other factors of a product may leave the range of the dtype together, or what
// undoes them underflow, where exact arithmetic would do neither.
double largest_factor_of(double range, size_t world) {
  return std::pow(range, 1.0 / static_cast<double>(std::max<size_t>(2, world - 1)));
}

}  // namespace

ErrorModel ErrorModel::of(DType dtype, DType coarsest) {
  if (!is_floating(dtype) && !is_complex(dtype)) return {};
  const double epsilon = std::max(epsilon_of(dtype), epsilon_of(coarsest));
  const double relative = slack_of(epsilon) * epsilon;
  return {.relative = relative,
          .absolute = std::min(4 * epsilon, relative / 4),
          .local = 4 * std::min(epsilon, epsilon_of(DType::kF32)),
          .range = range_of(dtype),
          .gap = gap_of(dtype),
          .nonfinite = false};
}

Truth make_truth(const Tensor& tensor) {
  Truth truth;
  truth.dtype = tensor.dtype();
  read_lanes(tensor, truth.lanes);
  for (double value : truth.lanes.reals) {
    if (std::isfinite(value)) truth.largest = std::max(truth.largest, std::abs(value));
  }
  return truth;
}

Lanes join_element(const Placement& placement, DType dtype, std::span<const Lanes> locals,
                   int64_t element) {
  const Join join = join_of(placement);
  const size_t at = static_cast<size_t>(element);
  Lanes joined;
  joined.lane_class = locals[0].lane_class;
  if (joined.lane_class == LaneClass::kInteger) {
    joined.integers.push_back(join_integers(join, dtype, locals, at));
    return joined;
  }
  if (joined.lane_class == LaneClass::kReal) {
    double value = locals[0].reals[at];
    for (size_t rank = 1; rank < locals.size(); ++rank)
      value = join_pair(join, value, locals[rank].reals[at]);
    joined.reals.push_back(value);
  } else {
    std::complex<double> value{locals[0].reals[2 * at], locals[0].reals[2 * at + 1]};
    for (size_t rank = 1; rank < locals.size(); ++rank) {
      const std::complex<double> local{locals[rank].reals[2 * at], locals[rank].reals[2 * at + 1]};
      value = join == Join::kProduct ? value * local : value + local;
    }
    joined.reals = {value.real(), value.imag()};
  }
  for (double& value : joined.reals) {
    if (join == Join::kAvg) value /= static_cast<double>(locals.size());
  }
  return joined;
}

Judgement judge(const Placement& placement, const Truth& truth,
                std::span<const std::vector<int32_t>> owned, std::span<const Lanes> locals,
                const ErrorModel& model, Mismatch* mismatch) {
  const bool is_product = placement.is_partial("product");
  // Of locals and truth; a product that underflows is not judged.
  const double roundings = is_product ? 0 : static_cast<double>(locals.size() + 1);
  RealJudge real{model, model.absolute * truth.largest + model.gap * roundings,
                 is_product ? largest_factor_of(model.range, locals.size()) : 0};
  if (placement.is_partial()) {
    const Judgement judgement = judge_partial(real, placement, truth, locals, mismatch);
    const bool adds = placement.is_partial("sum") || placement.is_partial("avg");
    if (judgement != Judgement::kFails || model.local == 0 || !adds) return judgement;
    real.absolute += model.local * largest_of(locals);
    return judge_partial(real, placement, truth, locals, mismatch);
  }
  if (placement.is_replicate()) owned = {};
  return judge_copies(real, truth, owned, locals, mismatch);
}

}  // namespace onedim
