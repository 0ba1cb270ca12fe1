#include "core/solve/price_ascent.hpp"

#include <algorithm>
#include <cmath>

namespace onedim {
namespace {

constexpr int kPatience = 25;    // sweeps without a rise before the step shrinks
constexpr double kMemory = 0.8;  // of the direction, from sweep to sweep
constexpr double kShrink = 0.6;
constexpr double kMostGap = 0.1;  // to aim at, as a share of the bound
constexpr double kGrow = 1.02;
constexpr double kLeastScale = 1e-5;

}  // namespace

PriceAscent::PriceAscent(const CoreNetwork& core, std::vector<double> prices)
    : core_(&core), prices_(std::move(prices)), direction_(prices_.size(), 0) {}

void PriceAscent::step(DualBound& dual, Cost target) {
  const size_t points = prices_.size();
  std::vector<int64_t> held(points + 1, 0);
  for (int node = 0; node < core_->size; ++node) {
    for (const CoreUse& use : core_->uses_of(node)) {
      const int64_t bytes = core_->bytes[use.bytes + dual.cheapest()[node]];
      held[use.begin] += bytes;
      held[use.end] -= bytes;
    }
  }
  double norm = 0;
  int64_t sum = 0;
  for (size_t t = 0; t < points; ++t) {
    sum += held[t];
    const auto excess = static_cast<double>(sum - core_->capacity[t]);
    direction_[t] = kMemory * direction_[t] + (1 - kMemory) * excess;
    if (prices_[t] > 0 || direction_[t] > 0) norm += direction_[t] * direction_[t];
  }
  if (norm <= 0) return;
  const auto bound = static_cast<double>(dual.bound());
  const double gap =
      std::clamp(static_cast<double>(target) - bound, 1.0, kMostGap * std::abs(bound) + 1.0);
  for (size_t t = 0; t < points; ++t)
    prices_[t] = std::max(0.0, prices_[t] + scale_ * gap / norm * direction_[t]);
  dual.set_prices(prices_);
}

void PriceAscent::run(DualBound& dual, Cost target, int steps, const StopTime& stop) {
  DualBound best = dual;
  std::vector<double> best_prices = prices_;
  int idle = 0;
  for (int i = 0; i < steps && !stop.is_past(); ++i) {
    dual.sweep(forward_);
    forward_ = !forward_;
    if (dual.is_infeasible()) return;
    const Cost rise = dual.bound() - best.bound();
    if (rise > 0) {
      best = dual;
      best_prices = prices_;
      if (dual.bound() >= target) return;
    }
    if (rise > (target - dual.bound()) / 4096) {
      idle = 0;
      scale_ = std::min(scale_ * kGrow, 1.0);
    } else if (++idle >= kPatience) {
      idle = 0;
      if (prices_.empty() || scale_ < kLeastScale) break;
      scale_ *= kShrink;
      dual = best;
      prices_ = best_prices;
    }
    if (!prices_.empty()) step(dual, target);
  }
  const int64_t effort = dual.effort();
  dual = best;
  dual.add_effort(effort - dual.effort());
  prices_ = best_prices;
}

}  // namespace onedim
