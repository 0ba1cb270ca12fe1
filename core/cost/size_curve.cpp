#include "core/cost/size_curve.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace onedim {
namespace {

using Knot = SizeCurve::Knot;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The sizes of both curves' knots, rising.
std::vector<double> all_bytes(const SizeCurve& a, const SizeCurve& b) {
  std::vector<double> bytes;
  bytes.reserve(a.knots().size() + b.knots().size());
  auto left = a.knots().begin(), right = b.knots().begin();
  while (left != a.knots().end() || right != b.knots().end()) {
    const double next = right == b.knots().end()  ? left->bytes
                        : left == a.knots().end() ? right->bytes
                                                  : std::min(left->bytes, right->bytes);
    bytes.push_back(next);
    if (left != a.knots().end() && left->bytes == next) ++left;
    if (right != b.knots().end() && right->bytes == next) ++right;
  }
  return bytes;
}

// Walks along a curve from left to right.
class Cursor {
 public:
  explicit Cursor(const SizeCurve& curve) : curve_(curve) {}
  double at(double bytes) {
    const std::span<const Knot> knots = curve_.knots();
    while (next_ < knots.size() && knots[next_].bytes <= bytes) ++next_;
    const Knot& left = knots[next_ - 1];
    const double run = bytes - left.bytes;
    if (run == 0) return left.us;
    if (next_ == knots.size()) return left.us + curve_.tail_slope() * run;
    const Knot& right = knots[next_];
    return left.us + (right.us - left.us) * (run / (right.bytes - left.bytes));
  }

 private:
  const SizeCurve& curve_;
  size_t next_ = 1;
};

bool is_straight(const Knot& a, const Knot& b, const Knot& c) {
  const double expected = a.us + (c.us - a.us) * ((b.bytes - a.bytes) / (c.bytes - a.bytes));
  return std::abs(expected - b.us) <= 1e-13 * std::abs(b.us);
}

void append(std::vector<Knot>& knots, Knot knot) {
  if (!knots.empty() && knot.bytes <= knots.back().bytes) return;
  while (knots.size() >= 2 && is_straight(knots[knots.size() - 2], knots.back(), knot)) {
    knots.pop_back();
  }
  knots.push_back(knot);
}

}  // namespace

SizeCurve::SizeCurve(std::vector<Knot> knots, double tail_slope)
    : knots_(std::move(knots)), tail_slope_(tail_slope) {}

double SizeCurve::slope_behind(size_t knot) const {
  if (knot + 1 == knots_.size()) return tail_slope_;
  return (knots_[knot + 1].us - knots_[knot].us) / (knots_[knot + 1].bytes - knots_[knot].bytes);
}

double SizeCurve::at(double bytes) const {
  const auto behind =
      std::upper_bound(knots_.begin(), knots_.end(), bytes,
                       [](double value, const Knot& knot) { return value < knot.bytes; });
  const size_t knot = behind == knots_.begin() ? 0 : behind - knots_.begin() - 1;
  return knots_[knot].us + slope_behind(knot) * (bytes - knots_[knot].bytes);
}

SizeCurve operator+(const SizeCurve& a, const SizeCurve& b) {
  std::vector<Knot> knots;
  Cursor left(a), right(b);
  for (const double bytes : all_bytes(a, b)) {
    append(knots, {bytes, left.at(bytes) + right.at(bytes)});
  }
  return {std::move(knots), a.tail_slope_ + b.tail_slope_};
}

SizeCurve minimum(const SizeCurve& a, const SizeCurve& b) {
  std::vector<Knot> knots;
  Cursor left(a), right(b);
  double last_bytes = 0, last_gap = 0;
  for (const double bytes : all_bytes(a, b)) {
    const double a_us = left.at(bytes), b_us = right.at(bytes), gap = a_us - b_us;
    if (gap * last_gap < 0) {
      const double cross = last_bytes + (bytes - last_bytes) * (last_gap / (last_gap - gap));
      // Both curves are straight here; the lower of two roundings keeps the result below both.
      if (cross > last_bytes && cross < bytes) {
        append(knots, {cross, std::min(a.at(cross), b.at(cross))});
      }
    }
    append(knots, {bytes, std::min(a_us, b_us)});
    last_bytes = bytes;
    last_gap = gap;
  }
  const double slope_gap = a.tail_slope_ - b.tail_slope_;
  if (last_gap * slope_gap < 0) {
    const double cross = last_bytes - last_gap / slope_gap;
    if (cross > last_bytes) append(knots, {cross, std::min(a.at(cross), b.at(cross))});
  }
  return {std::move(knots), std::min(a.tail_slope_, b.tail_slope_)};
}

SizeCurve SizeCurve::stretched(double factor) const {
  std::vector<Knot> knots = knots_;
  for (Knot& knot : knots) knot.bytes /= factor;
  return {std::move(knots), tail_slope_ * factor};
}

SizeCurve SizeCurve::nondecreasing() const {
  std::vector<Knot> reversed = {knots_.back()};
  double least = knots_.back().us;
  for (size_t i = knots_.size() - 1; i-- > 0;) {
    const Knot& left = knots_[i];
    if (left.us >= least) {
      reversed.push_back({left.bytes, least});
      continue;
    }
    if (knots_[i + 1].us > least) {
      const double bytes = left.bytes + (least - left.us) / slope_behind(i);
      if (bytes > left.bytes && bytes < reversed.back().bytes) reversed.push_back({bytes, least});
    }
    reversed.push_back(left);
    least = left.us;
  }
  std::vector<Knot> knots;
  for (auto knot = reversed.rbegin(); knot != reversed.rend(); ++knot) append(knots, *knot);
  return {std::move(knots), tail_slope_};
}

SizeCurve SizeCurve::thinned(double tolerance) const {
  std::vector<Knot> kept = {knots_.front()};
  size_t from = 0;
  const auto fits = [&](size_t to) {
    for (size_t i = from + 1; i < to; ++i) {
      const double share =
          (knots_[i].bytes - knots_[from].bytes) / (knots_[to].bytes - knots_[from].bytes);
      const double us = knots_[from].us + (knots_[to].us - knots_[from].us) * share;
      if (std::abs(us - knots_[i].us) > tolerance * knots_[i].us) return false;
    }
    return true;
  };
  while (from + 1 < knots_.size()) {
    size_t to = from + 1;
    while (to + 1 < knots_.size() && fits(to + 1)) ++to;
    kept.push_back(knots_[to]);
    from = to;
  }
  return {std::move(kept), tail_slope_};
}

SizeTable::SizeTable(const SizeCurve& curve) {
  const std::span<const Knot> knots = curve.knots();
  for (size_t i = 0; i < knots.size(); ++i) {
    const bool last = i + 1 == knots.size();
    const double end = last ? kInfinity : knots[i + 1].bytes;
    const double end_us = last ? kInfinity : knots[i + 1].us;
    const double slope =
        last ? curve.tail_slope() : (end_us - knots[i].us) / (end - knots[i].bytes);
    segments_.push_back({knots[i].bytes, knots[i].us, slope, end, end_us});
  }
  uint16_t segment = 0;
  for (int octave = 0; octave <= 63; ++octave) {
    const double least = octave == 0 ? 0 : std::ldexp(1.0, octave - 1);
    while (segments_[segment].end <= least) ++segment;
    first_of_octave_.push_back(segment);
  }
}

double SizeTable::at(int64_t bytes) const {
  const double size = static_cast<double>(bytes);
  const Segment* segment =
      &segments_[first_of_octave_[std::bit_width(static_cast<uint64_t>(bytes))]];
  while (size >= segment->end) ++segment;
  const double us = segment->us + segment->slope * (size - segment->begin);
  return std::min(us, segment->end_us);
}

}  // namespace onedim
