#include "core/base/quoted.hpp"
#include "core/cost/cluster.hpp"

namespace onedim {
namespace {

// Shortest text that reads back as the same number.
std::string number(double value) { return fmt::format("{}", value); }

template <typename Numbers>
std::string list(const Numbers& numbers) {
  std::string text = "[";
  for (const auto& value : numbers) {
    text += text.size() > 1 ? ", " : "";
    text += number(static_cast<double>(value));
  }
  return text + "]";
}

std::string row_text(const NcclRow& row) {
  std::vector<double> cells = {static_cast<double>(row.nodes),
                               static_cast<double>(row.ranks_per_node)};
  for (const NcclLine& line : row.protocols) cells.insert(cells.end(), {line.us, line.gbs});
  return list(cells);
}

std::string row_text(const NcclNodeRow& row) {
  return list(std::vector<double>{static_cast<double>(row.ranks), row.line.us, row.line.gbs});
}

template <typename Row>
std::string rows_text(std::string_view key, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  std::string text = fmt::format("{} = [\n", key);
  for (const Row& row : rows) text += fmt::format("  {},\n", row_text(row));
  return text + "]\n";
}

std::string link_text(std::string_view name, const ClusterLink& link) {
  return fmt::format("\n[{}]\nbandwidth_gbs = {}\nlatency_us = {}\n", name,
                     number(link.bandwidth_gbs), number(link.latency_us));
}

std::string compute_text(const ClusterCompute& compute) {
  std::string text = fmt::format("\n[compute]\nmemory_gbs = {}\nefficiency = {}\nlaunch_us = {}\n",
                                 number(compute.memory_gbs), number(compute.efficiency),
                                 number(compute.launch_us));
  std::string peaks;
  for (size_t i = 0; i < compute.peak_tflops.size(); ++i) {
    if (compute.peak_tflops[i] == 0) continue;
    peaks +=
        fmt::format("{} = {}\n", name_of(static_cast<DType>(i)), number(compute.peak_tflops[i]));
  }
  return peaks.empty() ? text : text + "\n[compute.peak_tflops]\n" + peaks;
}

std::string nccl_text(const NcclTables& tables) {
  std::string text = fmt::format(
      "\n[nccl]\nnvswitch = {}\nchannels = {}\nll_cap_gbs = {}\nring_ll128_channel_gbs = {}\n"
      "tree_channel_gbs = {}\ntree_ll128_channel_gbs = {}\n",
      tables.nvswitch, tables.channels, list(tables.ll_cap_gbs),
      number(tables.ring_ll128_channel_gbs), list(tables.tree_channel_gbs),
      list(tables.tree_ll128_channel_gbs));
  if (tables.nvls_tree_channel_gbs[0] > 0) {
    text += fmt::format("nvls_tree_channel_gbs = {}\n", list(tables.nvls_tree_channel_gbs));
  }
  if (tables.nvls_efficiency > 0) {
    text += fmt::format("nvls_efficiency = {}\n", number(tables.nvls_efficiency));
  }
  const NcclLine all_to_all = tables.node_all_to_all;
  if (all_to_all.gbs > 0) {
    text += fmt::format("node_all_to_all = {}\n",
                        list(std::array<double, 2>{all_to_all.us, all_to_all.gbs}));
  }
  return text + rows_text("node_all_gather", tables.node_all_gather) +
         rows_text("node_all_reduce", tables.node_all_reduce) + rows_text("ring", tables.ring) +
         rows_text("tree", tables.tree) + rows_text("nvls_tree", tables.nvls_tree);
}

std::string measured_text(const MeasuredCurve& curve) {
  return fmt::format(
      "\n[[measured]]\ncollective = {}\nnodes = {}\nranks_per_node = {}\nbytes = {}\nus = {}\n",
      format_quoted(collective_name(curve.collective)), curve.nodes, curve.ranks_per_node,
      fmt::format("[{}]", fmt::join(curve.bytes, ", ")), list(curve.us));
}

}  // namespace

std::string format_cluster(const Cluster& cluster) {
  std::string text = fmt::format(
      "description = {}\nmodel = {}\nranks_per_node = {}\ncollective_launch_us = {}\n"
      "copy_gbs = {}\ncopy_launch_us = {}\nalignment_bytes = {}\ncommunicator_bytes = {}\n",
      format_quoted(cluster.description), format_quoted(cluster.model), cluster.ranks_per_node,
      number(cluster.collective_launch_us), number(cluster.copy_gbs),
      number(cluster.copy_launch_us), cluster.alignment_bytes, cluster.communicator_bytes);
  text += link_text("intra", cluster.intra) + link_text("inter", cluster.inter) +
          compute_text(cluster.compute);
  if (cluster.nccl) text += nccl_text(*cluster.nccl);
  for (const MeasuredCurve& curve : cluster.measured) text += measured_text(curve);
  return text;
}

}  // namespace onedim
