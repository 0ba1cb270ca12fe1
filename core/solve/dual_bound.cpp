#include "core/solve/dual_bound.hpp"

#include <algorithm>
#include <cmath>

#include "core/solve/wide_cost.hpp"

namespace onedim {
namespace {

// least[w] = min over v of cells[v][w] - shift[v]
void least_by_column(const Cost* __restrict cells, const Cost* __restrict shift, int rows,
                     int columns, Cost* __restrict least) {
  for (int w = 0; w < columns; ++w) least[w] = cells[w] - shift[0];
  for (int v = 1; v < rows; ++v) {
    const Cost* __restrict row = cells + static_cast<size_t>(v) * columns;
    const Cost base = shift[v];
    for (int w = 0; w < columns; ++w) {
      const Cost cost = row[w] - base;
      least[w] = cost < least[w] ? cost : least[w];
    }
  }
}

// least[v] = min over w of cells[v][w] - shift[w]
void least_by_row(const Cost* __restrict cells, const Cost* __restrict shift, int rows, int columns,
                  Cost* __restrict least) {
  for (int v = 0; v < rows; ++v) {
    const Cost* __restrict row = cells + static_cast<size_t>(v) * columns;
    Cost lowest = row[0] - shift[0];
    for (int w = 1; w < columns; ++w) {
      const Cost cost = row[w] - shift[w];
      lowest = cost < lowest ? cost : lowest;
    }
    least[v] = lowest;
  }
}

// Prices as whole numbers of 2^-bits, so fine that their sum stays far from the end of the range.
int price_bits(const std::vector<double>& prices) {
  double sum = 1;
  for (const double price : prices) sum += std::max(price, 0.0);
  return std::clamp(58 - static_cast<int>(std::ceil(std::log2(sum))), 0, 40);
}

}  // namespace

DualBound::DualBound(const CoreNetwork& core)
    : core_(&core),
      constant_(core.constant),
      unary_(core.unary),
      shift_(core.shift_count, 0),
      penalty_(core.unary.size(), 0),
      cheapest_(core.size, 0) {}

void DualBound::set_prices(const std::vector<double>& prices) {
  const int bits = price_bits(prices);
  std::vector<int64_t> sums(prices.size() + 1, 0);
  WideCost capacity_price = 0;
  for (size_t t = 0; t < prices.size(); ++t) {
    const auto price =
        static_cast<int64_t>(std::ldexp(std::min(std::max(prices[t], 0.0), 0x1p50), bits));
    sums[t + 1] = sums[t] + price;
    capacity_price += static_cast<WideCost>(price) * core_->capacity[t];
  }
  const WideCost most = kCostRange / 2;
  effort_ += 2 * core_->pass_effort();
  capacity_price_ = static_cast<Cost>(std::min(most, (capacity_price >> bits) + 1));
  for (int node = 0; node < core_->size; ++node) {
    const int first = core_->first_value[node];
    for (int v = 0; v < core_->domain(node); ++v) {
      WideCost penalty = 0;
      for (const CoreUse& use : core_->uses_of(node))
        penalty +=
            static_cast<WideCost>(core_->bytes[use.bytes + v]) * (sums[use.end] - sums[use.begin]);
      const Cost rounded = static_cast<Cost>(std::min(most, penalty >> bits));
      if (!is_blocked(unary_[first + v])) unary_[first + v] += rounded - penalty_[first + v];
      penalty_[first + v] = rounded;
    }
  }
}

void DualBound::settle(int node) {
  const int first = core_->first_value[node];
  const int last = core_->first_value[node + 1];
  int lowest = first;
  for (int value = first + 1; value < last; ++value) {
    if (unary_[value] < unary_[lowest]) lowest = value;
  }
  cheapest_[node] = lowest - first;
  const Cost least = unary_[lowest];
  if (is_blocked(least)) {
    is_infeasible_ = true;
    return;
  }
  constant_ += least;
  for (int value = first; value < last; ++value) {
    if (!is_blocked(unary_[value])) unary_[value] -= least;
  }
}

void DualBound::give(int node, std::span<const CoreLink> ahead, int parts) {
  const int domain = core_->domain(node);
  Cost* unary = &unary_[core_->first_value[node]];
  scratch_.resize(domain);
  for (int v = 0; v < domain; ++v)  // a blocked value gives more than any: -1
    scratch_[v] = is_blocked(unary[v]) ? -1 : unary[v] / parts;
  for (const CoreLink& link : ahead) {
    const CoreEdge& e = core_->edges[link.edge];
    Cost* shift = &shift_[node == e.a ? e.shift_a : e.shift_b];
    for (int v = 0; v < domain; ++v) {
      const Cost part = scratch_[v];
      shift[v] = part < 0 ? -kBlocked : shift[v] - part;
      unary[v] -= std::max<Cost>(part, 0);
    }
  }
}

void DualBound::pull(const CoreLink& link) {
  const CoreEdge& e = core_->edges[link.edge];
  const int rows = core_->domain(e.a);
  const int columns = core_->domain(e.b);
  const bool to_b = link.other == e.b;
  const int domain = to_b ? columns : rows;
  scratch_.resize(domain);
  const Cost* cells = &core_->cells[e.cells];
  if (to_b) {
    least_by_column(cells, &shift_[e.shift_a], rows, columns, scratch_.data());
  } else {
    least_by_row(cells, &shift_[e.shift_b], rows, columns, scratch_.data());
  }
  Cost* shift = &shift_[to_b ? e.shift_b : e.shift_a];
  Cost* unary = &unary_[core_->first_value[link.other]];
  for (int w = 0; w < domain; ++w) {
    if (is_blocked(unary[w])) continue;
    if (is_blocked(scratch_[w])) {
      unary[w] = kBlocked;
      continue;
    }
    const Cost more = scratch_[w] - shift[w];
    shift[w] += more;
    unary[w] += more;
  }
  effort_ += int64_t{rows} * columns;
}

void DualBound::sweep(bool forward) {
  for (int step = 0; step < core_->size && !is_infeasible_; ++step) {
    const int node = forward ? step : core_->size - 1 - step;
    settle(node);
    const auto ahead = forward ? core_->forward_of(node) : core_->backward_of(node);
    const auto behind = forward ? core_->backward_of(node) : core_->forward_of(node);
    give(node, ahead, static_cast<int>(std::max<size_t>({ahead.size(), behind.size(), 1})));
    for (const CoreLink& link : ahead) pull(link);
  }
}

}  // namespace onedim
