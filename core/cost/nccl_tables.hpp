#pragma once
// NcclTables: what NCCL's tuner and measurements say about one kind of GPU: (algorithm, protocol)
// rows of latency and algorithm bandwidth by nodes and ranks a node, and the constants that stand
// in where there is no row. The time of one pair is latency + bytes / (bandwidth * correction); a
// collective takes the cheapest pair. Source of the formulas: NCCL's src/graph/tuning.cc.

#include <array>
#include <cstdint>
#include <vector>

namespace onedim {

// Latency in us and algorithm bandwidth in GB/s (10^9 bytes); without bandwidth: not offered.
struct NcclLine {
  double us = 0;
  double gbs = 0;
  bool operator==(const NcclLine&) const = default;
};

enum class NcclProtocol { kSimple, kLl128, kLl };
inline constexpr int kNcclProtocolCount = 3;

// Several nodes.
struct NcclRow {
  int64_t nodes = 0;
  int64_t ranks_per_node = 0;
  std::array<NcclLine, kNcclProtocolCount> protocols;
  bool operator==(const NcclRow&) const = default;
};

// One node, measured.
struct NcclNodeRow {
  int64_t ranks = 0;
  NcclLine line;
  bool operator==(const NcclNodeRow&) const = default;
};

struct NcclTables {
  bool nvswitch = false;
  int64_t channels = 1;
  // By nodes: 1, 2, more.
  std::array<double, 3> ll_cap_gbs{};
  double ring_ll128_channel_gbs = 0;
  std::array<double, 3> tree_channel_gbs{};
  std::array<double, 3> tree_ll128_channel_gbs{};
  std::array<double, 2> nvls_tree_channel_gbs{};  // 2 nodes, more; zeros: not offered
  double nvls_efficiency = 0;

  std::vector<NcclNodeRow> node_all_gather;  // and reduce-scatter
  std::vector<NcclNodeRow> node_all_reduce;
  NcclLine node_all_to_all;
  std::vector<NcclRow> ring;       // all-gather and reduce-scatter
  std::vector<NcclRow> tree;       // all-reduce, 2 and 4 nodes; more by doubling
  std::vector<NcclRow> nvls_tree;  // the same
  bool operator==(const NcclTables&) const = default;
};

}  // namespace onedim
