#include "core/cost/nccl_formulas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onedim {
namespace {

// In the order of NcclProtocol: Simple, LL128, LL.
using ByProtocol = std::array<double, kNcclProtocolCount>;
constexpr ByProtocol kBase = {8.4, 14, 6.6};  // ring
constexpr ByProtocol kTreeBase = {8.4, 14, 6.8};
constexpr ByProtocol kRingHop = {3.4, 1.9, 0.6};
constexpr ByProtocol kTreeHop = {4, 1.25, 0.6};
constexpr ByProtocol kRingNetwork = {14, 4, 2.7};
constexpr ByProtocol kTreeNetwork = {14, 8.5, 5};
constexpr ByProtocol kOverhead = {3, 1, 1};  // the least that a step on a link takes
constexpr double kNvlsTreeHop = 25;
constexpr double kNvlsTreeNetwork = 20.9;

// What several nodes lose to waiting for each other, as fitted to nccl-tests.
double sync_us(int64_t nodes) {
  if (nodes < 2) return 0;
  const double count = static_cast<double>(nodes);
  return 4.7 * count * (nodes > 4 ? std::pow(count / 4, 0.65) : 1.0);
}

// The bandwidth of one rank's ring before protocols. Up to 2 nodes NCCL's tuner takes the inner
// links', which no network reaches.
double bus_gbs(const Cluster& cluster, const ClusterGroup& group, NcclReading reading) {
  const int64_t inner_up_to = reading == NcclReading::kPublished ? 2 : 1;
  if (group.nodes <= inner_up_to) return cluster.intra.bandwidth_gbs;
  const double cards = cluster.nccl->nvswitch ? static_cast<double>(group.ranks_per_node) : 1;
  return std::min(cluster.intra.bandwidth_gbs, cluster.inter.bandwidth_gbs * cards);
}

template <size_t N>
double by_nodes(const std::array<double, N>& values, int64_t nodes, int64_t first) {
  const int64_t index = nodes <= first ? 0 : nodes <= 2 ? 2 - first : 3 - first;
  return values[static_cast<size_t>(std::min<int64_t>(index, N - 1))];
}

double ring_gbs(const Cluster& cluster, const ClusterGroup& group, NcclProtocol protocol,
                NcclReading reading) {
  const NcclTables& tables = *cluster.nccl;
  const double bus = bus_gbs(cluster, group, reading);
  switch (protocol) {
    case NcclProtocol::kLl:
      return std::min(bus / 2, group.is_one_node() ? tables.ll_cap_gbs[0]
                               : group.nodes == 2  ? tables.ll_cap_gbs[1]
                                                   : tables.ll_cap_gbs[2]);
    case NcclProtocol::kLl128:
      return std::min(bus * 0.92,
                      static_cast<double>(tables.channels) * tables.ring_ll128_channel_gbs);
    case NcclProtocol::kSimple:
      break;
  }
  return bus;
}

double ring_us(const Cluster& cluster, bool reduces, const ClusterGroup& group, double bytes,
               NcclProtocol protocol, NcclReading reading) {
  const size_t i = static_cast<size_t>(protocol);
  const double ranks = static_cast<double>(group.ranks), passes = reduces ? 2 : 1;
  const double steps = passes * (ranks - 1);
  const double network_steps = passes * static_cast<double>(group.nodes - 1);
  double latency = kBase[i] + (steps - network_steps) * std::max(kRingHop[i], kOverhead[i]) +
                   network_steps * kRingNetwork[i] + sync_us(group.nodes);
  double gbs = ring_gbs(cluster, group, protocol, reading) * ranks / steps;
  if (!group.is_one_node()) {
    gbs *= multi_node_ring_correction(bytes / ranks, group.nodes);
    const double per_channel = bytes / (static_cast<double>(cluster.nccl->channels) * ranks);
    if (reduces && protocol == NcclProtocol::kSimple && per_channel >= 64) latency *= 1.4;
  }
  return latency + bytes / (1000 * gbs);
}

double tree_us(const Cluster& cluster, const ClusterGroup& group, double bytes,
               NcclProtocol protocol, NcclReading reading) {
  const NcclTables& tables = *cluster.nccl;
  const size_t i = static_cast<size_t>(protocol);
  const double channels = static_cast<double>(tables.channels);
  double gbs = std::min(bus_gbs(cluster, group, reading) * 0.92,
                        channels * by_nodes(tables.tree_channel_gbs, group.nodes, 1));
  if (protocol == NcclProtocol::kLl) gbs /= 3.8;
  if (protocol == NcclProtocol::kLl128) {
    gbs = std::min(gbs * (group.is_one_node() ? 7.0 / 9 : 120.0 / 128),
                   channels * by_nodes(tables.tree_ll128_channel_gbs, group.nodes, 1));
  }
  const double nodes = static_cast<double>(group.nodes);
  const double hops = static_cast<double>(group.ranks) / nodes - 1;
  const double latency =
      kTreeBase[i] + 2 * (hops * kTreeHop[i] + std::log2(nodes) * kTreeNetwork[i]);
  return latency + bytes / (1000 * gbs * 0.5 * tree_correction(protocol, bytes, reading));
}

double nvls_tree_us(const Cluster& cluster, const ClusterGroup& group, double bytes,
                    NcclReading reading) {
  const NcclTables& tables = *cluster.nccl;
  const double channels = static_cast<double>(tables.channels);
  const double cap = by_nodes(tables.nvls_tree_channel_gbs, group.nodes, 2);
  if (group.is_one_node() || group.ranks_per_node < 4 || cap == 0 || tables.nvls_efficiency == 0) {
    return std::numeric_limits<double>::infinity();
  }
  const double gbs = std::min(bus_gbs(cluster, group, reading) * tables.nvls_efficiency *
                                  (channels - 1) / channels,
                              channels * cap) /
                     2;
  const double latency =
      kNvlsTreeHop + 2 * std::log2(static_cast<double>(group.nodes)) * kNvlsTreeNetwork;
  const double per_rank = bytes / static_cast<double>(group.ranks);
  return latency + bytes / (1000 * gbs * nvls_tree_correction(per_rank));
}

}  // namespace

double tree_network_hop_us(NcclProtocol protocol) {
  return kTreeNetwork[static_cast<size_t>(protocol)];
}

double ring_formula_us(const Cluster& cluster, bool reduces, const ClusterGroup& group,
                       double bytes, NcclReading reading) {
  double us = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kNcclProtocolCount; ++i) {
    const NcclProtocol protocol = static_cast<NcclProtocol>(i);
    us = std::min(us, ring_us(cluster, reduces, group, bytes, protocol, reading));
  }
  return us;
}

double formula_us(const Cluster& cluster, bool reduces, const ClusterGroup& group, double bytes,
                  NcclReading reading) {
  double us = ring_formula_us(cluster, reduces, group, bytes, reading);
  if (!reduces) return us;
  for (int i = 0; i < kNcclProtocolCount; ++i) {
    us = std::min(us, tree_us(cluster, group, bytes, static_cast<NcclProtocol>(i), reading));
  }
  return std::min(us, nvls_tree_us(cluster, group, bytes, reading));
}

double all_to_all_formula_us(const Cluster& cluster, const ClusterGroup& group, double bytes) {
  const double link = group.is_one_node()
                          ? cluster.intra.bandwidth_gbs
                          : std::min(cluster.intra.bandwidth_gbs, cluster.inter.bandwidth_gbs);
  const double network_steps = group.is_one_node() ? 0 : static_cast<double>(group.nodes);
  const double steps = static_cast<double>(group.ranks) - network_steps;
  double us = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < kNcclProtocolCount; ++i) {
    const double share = i == static_cast<size_t>(NcclProtocol::kSimple)  ? 1
                         : i == static_cast<size_t>(NcclProtocol::kLl128) ? 0.92
                                                                          : 0.5;
    const double latency = kBase[i] + steps * std::max(kRingHop[i], kOverhead[i]) +
                           network_steps * kRingNetwork[i] + sync_us(group.nodes);
    us = std::min(us, latency + bytes / (1000 * link * 0.7 * share));
  }
  return us;
}

}  // namespace onedim
