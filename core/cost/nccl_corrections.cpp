#include "core/cost/nccl_corrections.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace onedim {
namespace {

constexpr std::array<double, 23> kTreeLl = {1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
                                            .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1};
constexpr std::array<double, 23> kTreeLl128 = {1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
                                               .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1};
constexpr std::array<double, 23> kTreeSimple = {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                                                .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9};

// From 64 bytes to 2 GiB; 16 KiB to 8 MiB are flat.
constexpr std::array<double, 26> kFullNodeRing = {.01, .02, .03, .06, .10, .16, .25, .36, .68,
                                                  .68, .68, .68, .68, .68, .68, .68, .68, .68,
                                                  .79, .87, .87, .87, .87, .87, .87, 1};
// From 64 KiB to 32 MiB.
constexpr std::array<double, 10> kMultiNodeRing = {1, .10, .18, .30, .43, .63, .55, .78, .93, 1};
// From 8 KiB to 4 MiB.
constexpr std::array<double, 10> kNvlsTree = {1, .10, .10, .15, .28, .41, .55, .72, .88, 1};
// From 16 KiB to 16 MiB; smaller messages are bound by latency.
constexpr std::array<double, 11> kAllToAll = {.28, .28, .35, .43, .62, .71, .82, .89, .92, .95, 1};

// Where `bytes` stands in a table whose first entry is at `first` bytes.
double position(double bytes, double first) { return std::log2(std::max(bytes, 1.0) / first); }

double smooth(std::span<const double> table, double at) {
  const double last = static_cast<double>(table.size() - 1);
  at = std::clamp(at, 0.0, last);
  const size_t low = static_cast<size_t>(std::min(std::floor(at), last - 1));
  const double share = at - static_cast<double>(low);
  return table[low] + (table[low + 1] - table[low]) * share;
}

double step(std::span<const double> table, double at) {
  const double last = static_cast<double>(table.size() - 1);
  return table[static_cast<size_t>(std::clamp(std::floor(at), 0.0, last))];
}

}  // namespace

double tree_correction(NcclProtocol protocol, double bytes, NcclReading reading) {
  const std::array<double, 23>& table = protocol == NcclProtocol::kLl      ? kTreeLl
                                        : protocol == NcclProtocol::kLl128 ? kTreeLl128
                                                                           : kTreeSimple;
  const double at = position(bytes, 64);
  return reading == NcclReading::kSmooth ? smooth(table, at) : step(table, at);
}

double full_node_ring_correction(double bytes_per_rank) {
  return smooth(kFullNodeRing, position(bytes_per_rank, 64));
}

double multi_node_ring_correction(double bytes_per_rank, int64_t nodes) {
  std::array<double, kMultiNodeRing.size()> table = kMultiNodeRing;
  if (nodes > 4) {
    const double power = 1 + 0.2 * (std::log2(static_cast<double>(nodes)) - 2);
    for (size_t i = 1; i < table.size(); ++i) {
      table[i] = std::pow(table[i], power);
      if (i > 1) table[i] = std::min(table[i], 2 * table[i - 1]);
    }
  }
  return smooth(table, position(bytes_per_rank, 64 << 10));
}

double nvls_tree_correction(double bytes_per_rank) {
  return smooth(kNvlsTree, position(bytes_per_rank, 8 << 10));
}

double all_to_all_correction(double bytes_per_peer, int64_t nodes, NcclReading reading) {
  const double at = position(bytes_per_peer, 16 << 10);
  if (reading == NcclReading::kPublished && at < 0) return 1;
  const double ramp = reading == NcclReading::kSmooth ? smooth(kAllToAll, at) : step(kAllToAll, at);
  return 1 - (1 - ramp) / std::max(1.0, std::log2(static_cast<double>(nodes)));
}

}  // namespace onedim
