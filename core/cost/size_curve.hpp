#pragma once
// SizeCurve: a price in us as a function of bytes, continuous and piecewise linear: knots from 0
// bytes on, and a slope behind the last. The operations are exact: what holds between two curves by
// construction holds at every size, not only at the knots.

#include <cstdint>
#include <span>
#include <vector>

namespace onedim {

class SizeCurve {
 public:
  struct Knot {
    double bytes = 0;
    double us = 0;
  };

  // The constant 0.
  SizeCurve() : knots_{{0, 0}} {}
  // `knots` begin at 0 bytes and rise; `tail_slope` is in us a byte.
  SizeCurve(std::vector<Knot> knots, double tail_slope);

  std::span<const Knot> knots() const { return knots_; }
  double tail_slope() const { return tail_slope_; }
  double at(double bytes) const;

  friend SizeCurve operator+(const SizeCurve& a, const SizeCurve& b);
  friend SizeCurve minimum(const SizeCurve& a, const SizeCurve& b);
  // x -> at(factor * x); `factor` > 0.
  SizeCurve stretched(double factor) const;
  // The largest nondecreasing curve that is nowhere above this one: a message is never dearer than
  // the same message padded to a larger size. The tail must not fall.
  SizeCurve nondecreasing() const;
  // Fewer knots, with a relative error of at most `tolerance`.
  SizeCurve thinned(double tolerance) const;

 private:
  double slope_behind(size_t knot) const;

  std::vector<Knot> knots_;
  double tail_slope_ = 0;
};

// A curve made ready for queries: an index by the octave of the bytes, so that a query is a lookup
// and a short scan, without allocation. Nondecreasing to the last bit if the curve is.
class SizeTable {
 public:
  explicit SizeTable(const SizeCurve& curve);
  double at(int64_t bytes) const;

 private:
  struct Segment {
    double begin, us, slope, end, end_us;
  };
  std::vector<Segment> segments_;
  std::vector<uint16_t> first_of_octave_;
};

}  // namespace onedim
