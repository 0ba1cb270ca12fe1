#include "core/cost/nccl_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/cost/nccl_formulas.hpp"

namespace onedim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double line_us(const NcclLine& line, double bytes, double correction = 1) {
  if (line.gbs <= 0) return kNever;
  return line.us + bytes / (1000 * line.gbs * correction);
}

// Between the rows of the nearest rank counts, beyond them the last.
NcclLine node_line(const std::vector<NcclNodeRow>& rows, int64_t ranks) {
  if (ranks <= rows.front().ranks) return rows.front().line;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (ranks > rows[i].ranks) continue;
    const NcclNodeRow &low = rows[i - 1], &high = rows[i];
    const double share =
        static_cast<double>(ranks - low.ranks) / static_cast<double>(high.ranks - low.ranks);
    return {low.line.us + (high.line.us - low.line.us) * share,
            low.line.gbs + (high.line.gbs - low.line.gbs) * share};
  }
  return rows.back().line;
}

const NcclRow* find_row(const std::vector<NcclRow>& rows, int64_t nodes, int64_t ranks_per_node) {
  for (const NcclRow& row : rows) {
    if (row.nodes == nodes && row.ranks_per_node == ranks_per_node) return &row;
  }
  return nullptr;
}

// The row for `nodes`, or the largest smaller one with the latency of the doublings between.
std::optional<NcclRow> doubled_row(const std::vector<NcclRow>& rows, const ClusterGroup& group) {
  int64_t nodes = group.nodes;
  for (int doublings = 0; nodes >= 2; nodes /= 2, ++doublings) {
    if (const NcclRow* found = find_row(rows, nodes, group.ranks_per_node)) {
      NcclRow row = *found;
      for (size_t i = 0; i < row.protocols.size(); ++i) {
        row.protocols[i].us += doublings * 2 * tree_network_hop_us(static_cast<NcclProtocol>(i));
      }
      return row;
    }
    if (nodes % 2 != 0) break;
  }
  return std::nullopt;
}

double ring_row_us(const NcclRow& row, const ClusterGroup& group, bool full_node, double bytes) {
  const double per_rank = bytes / static_cast<double>(group.ranks);
  const double correction = full_node ? full_node_ring_correction(per_rank) : 1;
  double us = kNever;
  for (const NcclLine& line : row.protocols) us = std::min(us, line_us(line, bytes, correction));
  return us;
}

double all_reduce_row_us(const NcclTables& tables, const ClusterGroup& group, double bytes,
                         NcclReading reading) {
  double us = kNever;
  if (const std::optional<NcclRow> tree = doubled_row(tables.tree, group)) {
    for (int i = 0; i < kNcclProtocolCount; ++i) {
      const NcclProtocol protocol = static_cast<NcclProtocol>(i);
      us = std::min(us, line_us(tree->protocols[static_cast<size_t>(i)], bytes,
                                tree_correction(protocol, bytes, reading)));
    }
  }
  if (const std::optional<NcclRow> nvls = doubled_row(tables.nvls_tree, group)) {
    const double per_rank = bytes / static_cast<double>(group.ranks);
    for (const NcclLine& line : nvls->protocols) {
      us = std::min(us, line_us(line, bytes, nvls_tree_correction(per_rank)));
    }
  }
  return us;
}

// Through the switch and one card a rank.
double all_to_all_across_us(const Cluster& cluster, const ClusterGroup& group, double bytes,
                            NcclReading reading) {
  constexpr std::array<double, 5> kLatency = {37, 42, 60, 98, 290};  // 2, 4, 8, 16, 32 nodes
  const double at = std::log2(static_cast<double>(group.nodes)) - 1;
  const size_t low = static_cast<size_t>(std::clamp(std::floor(at), 0.0, 3.0));
  const double latency =
      kLatency[low] + (kLatency[low + 1] - kLatency[low]) * (at - static_cast<double>(low));
  const double ranks = static_cast<double>(group.ranks);
  const double remote = bytes * (ranks - static_cast<double>(group.ranks_per_node)) / ranks;
  const double card = cluster.inter.bandwidth_gbs * (1 - 0.44 / static_cast<double>(group.nodes));
  return latency +
         remote / (1000 * card * all_to_all_correction(bytes / ranks, group.nodes, reading));
}

double all_to_all_us(const Cluster& cluster, const ClusterGroup& group, double bytes,
                     NcclReading reading) {
  const NcclTables& tables = *cluster.nccl;
  if (!group.is_one_node() && tables.nvswitch) {
    return all_to_all_across_us(cluster, group, bytes, reading);
  }
  if (tables.nvswitch && tables.node_all_to_all.gbs > 0) {
    return line_us(tables.node_all_to_all, bytes);
  }
  return all_to_all_formula_us(cluster, group, bytes);
}

}  // namespace

double nccl_us(const Cluster& cluster, Collective collective, const ClusterGroup& group,
               double bytes, NcclReading reading) {
  const NcclTables& tables = *cluster.nccl;
  if (collective == Collective::kAllToAll) return all_to_all_us(cluster, group, bytes, reading);
  if (collective == Collective::kBroadcast) {
    // A ring of one pass: the busy bandwidth of all-gather without its (n-1)/n.
    const double ranks = static_cast<double>(group.ranks);
    bytes *= ranks / (ranks - 1);
  }
  const bool reduces = collective == Collective::kAllReduce;
  const std::vector<NcclNodeRow>& node = reduces ? tables.node_all_reduce : tables.node_all_gather;
  if (group.is_one_node() && tables.nvswitch && !node.empty()) {
    return line_us(node_line(node, group.ranks), bytes);
  }
  const NcclRow* row = find_row(tables.ring, group.nodes, group.ranks_per_node);
  if (row == nullptr || group.nodes * group.ranks_per_node != group.ranks) {
    return formula_us(cluster, reduces, group, bytes, reading);
  }
  const bool full_node = group.ranks_per_node == cluster.ranks_per_node;
  if (!reduces) return ring_row_us(*row, group, full_node, bytes);
  return std::min(all_reduce_row_us(tables, group, bytes, reading),
                  ring_formula_us(cluster, true, group, bytes, reading));
}

}  // namespace onedim
