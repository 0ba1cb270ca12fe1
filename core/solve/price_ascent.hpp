#pragma once
// Price ascent: raises a dual bound by moving the prices of memory, a subgradient step after each
// sweep. What the nodes' cheapest values hold beyond the capacity, averaged over the last sweeps,
// says where memory is too cheap; the step is Polyak's, for the gap to a cost that is aimed at.
// When the bound stops rising it goes back to the best state with a smaller step.

#include "core/solve/dual_bound.hpp"
#include "core/solve/stop_time.hpp"

namespace onedim {

class PriceAscent {
 public:
  // `core` is borrowed. `prices` by point in time, in work units a byte.
  PriceAscent(const CoreNetwork& core, std::vector<double> prices);

  // At most `steps` sweeps from the best state so far; fewer if the bound reaches `target`, or
  // rises no more. Leaves `dual` in the best state it saw.
  void run(DualBound& dual, Cost target, int steps, const StopTime& stop = {});

  const std::vector<double>& prices() const { return prices_; }

 private:
  void step(DualBound& dual, Cost target);

  const CoreNetwork* core_;
  std::vector<double> prices_;
  std::vector<double> direction_;
  double scale_ = 0.1;
  bool forward_ = true;
};

}  // namespace onedim
