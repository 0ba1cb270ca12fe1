#include "core/cost/curve_source.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/cost/nccl_time.hpp"

namespace onedim {
namespace {

constexpr double kLeastBytes = 64;
constexpr int kSizesPerOctave = 4;
constexpr int kOctaves = 30;
constexpr double kThinning = 1e-3;

}  // namespace

SizeCurve alpha_beta_curve(const Cluster& cluster, Collective collective,
                           const ClusterGroup& group) {
  const ClusterLink& link = group.is_one_node() ? cluster.intra : cluster.inter;
  const double ranks = static_cast<double>(group.ranks), bytes_a_us = 1000 * link.bandwidth_gbs;
  double steps = ranks - 1;
  double passes = (ranks - 1) / ranks;
  if (collective == Collective::kAllReduce) {
    steps *= 2;
    passes *= 2;
  } else if (collective == Collective::kBroadcast) {
    steps = std::bit_width(static_cast<uint64_t>(group.ranks - 1));
    passes = 1;
  }
  const double latency = cluster.collective_launch_us + steps * link.latency_us;
  return {{{0, latency}}, passes / bytes_a_us};
}

SizeCurve nccl_curve(const Cluster& cluster, Collective collective, const ClusterGroup& group) {
  const auto price = [&](double bytes) {
    return nccl_us(cluster, collective, group, bytes, NcclReading::kSmooth);
  };
  std::vector<SizeCurve::Knot> knots = {{0, price(kLeastBytes)}};
  for (int i = 0; i <= kOctaves * kSizesPerOctave; ++i) {
    const double bytes = kLeastBytes * std::exp2(static_cast<double>(i) / kSizesPerOctave);
    knots.push_back({bytes, price(bytes)});
  }
  const SizeCurve::Knot &last = knots.back(), &before = knots[knots.size() - 2];
  const double tail = (last.us - before.us) / (last.bytes - before.bytes);
  return SizeCurve(std::move(knots), std::max(tail, 0.0)).thinned(kThinning);
}

SizeCurve measured_curve(const MeasuredCurve& measured) {
  std::vector<SizeCurve::Knot> knots;
  for (size_t i = 0; i < measured.bytes.size(); ++i) {
    knots.push_back({static_cast<double>(measured.bytes[i]), measured.us[i]});
  }
  const auto slope = [&](size_t i) {
    return std::max(0.0, (knots[i + 1].us - knots[i].us) / (knots[i + 1].bytes - knots[i].bytes));
  };
  const double tail = slope(knots.size() - 2);
  const double latency = knots[0].us - slope(0) * knots[0].bytes;
  knots.insert(knots.begin(), {0, std::max(0.0, latency)});
  return {std::move(knots), tail};
}

const MeasuredCurve* find_measured(const Cluster& cluster, Collective collective,
                                   const ClusterGroup& group) {
  for (const MeasuredCurve& curve : cluster.measured) {
    if (curve.collective == collective && curve.nodes == group.nodes &&
        curve.ranks_per_node == group.ranks_per_node &&
        curve.nodes * curve.ranks_per_node == group.ranks) {
      return &curve;
    }
  }
  return nullptr;
}

}  // namespace onedim
