#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/cost/cluster.hpp"
#include "core/cost/cluster_section.hpp"

namespace onedim {
namespace {

using Bound = ClusterSection::Bound;

Status read_link(ClusterSection section, ClusterLink& link) {
  section.require("bandwidth_gbs");
  section.require("latency_us");
  section.read("bandwidth_gbs", link.bandwidth_gbs, Bound::kPositive);
  section.read("latency_us", link.latency_us, Bound::kNotNegative);
  return section.finish();
}

Status read_compute(ClusterSection section, ClusterCompute& compute) {
  section.require("memory_gbs");
  section.read("memory_gbs", compute.memory_gbs, Bound::kPositive);
  section.read("efficiency", compute.efficiency, Bound::kPositive);
  if (compute.efficiency > 1) section.fault("efficiency", "a share, at most 1");
  section.read("launch_us", compute.launch_us, Bound::kNotNegative);
  ClusterSection peaks = section.section("peak_tflops");
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType dtype = static_cast<DType>(i);
    peaks.read(name_of(dtype), compute.peak_tflops[static_cast<size_t>(i)], Bound::kPositive);
  }
  if (const Status status = peaks.finish(); !status.ok()) return status;
  return section.finish();
}

constexpr double kMostRanks = 1 << 20;

// A count of nodes or ranks; 0 if it is none.
int64_t count_in(double cell) {
  return cell <= kMostRanks && cell == std::floor(cell) ? static_cast<int64_t>(cell) : 0;
}

// Rows of nodes, ranks a node, then latency and bandwidth of each protocol.
std::vector<NcclRow> read_nccl_rows(ClusterSection& section, std::string_view key) {
  std::vector<NcclRow> rows;
  for (const std::vector<double>& cells : section.rows(key, 2 + 2 * kNcclProtocolCount)) {
    NcclRow row{count_in(cells[0]), count_in(cells[1]), {}};
    for (size_t i = 0; i < kNcclProtocolCount; ++i) {
      row.protocols[i] = {cells[2 + 2 * i], cells[3 + 2 * i]};
    }
    if (row.nodes < 2 || row.ranks_per_node < 1) {
      section.fault(key, "rows that start with 2 or more nodes and 1 or more ranks a node");
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<NcclNodeRow> read_node_rows(ClusterSection& section, std::string_view key) {
  std::vector<NcclNodeRow> rows;
  for (const std::vector<double>& cells : section.rows(key, 3)) {
    rows.push_back({count_in(cells[0]), {cells[1], cells[2]}});
    if (rows.back().ranks < 2 || cells[2] == 0 ||
        (rows.size() > 1 && rows.back().ranks <= rows[rows.size() - 2].ranks)) {
      section.fault(key, "rows of ranks (2 or more, rising), latency and a bandwidth above 0");
    }
  }
  return rows;
}

Status read_nccl(ClusterSection section, NcclTables& tables) {
  for (const char* key : {"ll_cap_gbs", "tree_channel_gbs", "ring_ll128_channel_gbs"}) {
    section.require(key);
  }
  section.read("nvswitch", tables.nvswitch);
  section.read("channels", tables.channels, 1);
  section.read("ll_cap_gbs", tables.ll_cap_gbs, Bound::kPositive);
  section.read("ring_ll128_channel_gbs", tables.ring_ll128_channel_gbs, Bound::kPositive);
  section.read("tree_channel_gbs", tables.tree_channel_gbs, Bound::kPositive);
  tables.tree_ll128_channel_gbs = tables.tree_channel_gbs;
  section.read("tree_ll128_channel_gbs", tables.tree_ll128_channel_gbs, Bound::kPositive);
  section.read("nvls_tree_channel_gbs", tables.nvls_tree_channel_gbs, Bound::kPositive);
  section.read("nvls_efficiency", tables.nvls_efficiency, Bound::kPositive);
  tables.node_all_gather = read_node_rows(section, "node_all_gather");
  tables.node_all_reduce = read_node_rows(section, "node_all_reduce");
  std::array<double, 2> all_to_all{};
  section.read("node_all_to_all", all_to_all, Bound::kPositive);
  tables.node_all_to_all = {all_to_all[0], all_to_all[1]};
  tables.ring = read_nccl_rows(section, "ring");
  tables.tree = read_nccl_rows(section, "tree");
  tables.nvls_tree = read_nccl_rows(section, "nvls_tree");
  return section.finish();
}

Status read_measured(ClusterSection section, MeasuredCurve& curve) {
  for (const char* key : {"collective", "nodes", "ranks_per_node", "bytes", "us"}) {
    section.require(key);
  }
  std::string name(collective_name(curve.collective));
  section.read("collective", name);
  if (const std::optional<Collective> collective = find_collective(name)) {
    curve.collective = *collective;
  } else {
    section.fault("collective", "all_gather, reduce_scatter, all_reduce, all_to_all or broadcast");
  }
  section.read("nodes", curve.nodes, 1);
  section.read("ranks_per_node", curve.ranks_per_node, 1);
  const double ranks = static_cast<double>(curve.nodes) * static_cast<double>(curve.ranks_per_node);
  if (ranks < 2 || ranks > kMostRanks) section.fault("ranks_per_node", "2 to 2^20 ranks in all");
  for (const double bytes : section.list("bytes", Bound::kPositive)) {
    if (bytes > 9e15 || bytes != std::floor(bytes) ||
        (!curve.bytes.empty() && bytes <= static_cast<double>(curve.bytes.back()))) {
      section.fault("bytes", "whole numbers that rise");
      break;
    }
    curve.bytes.push_back(static_cast<int64_t>(bytes));
  }
  curve.us = section.list("us", Bound::kPositive);
  if (curve.bytes.size() < 2) section.fault("bytes", "2 or more sizes");
  if (curve.us.size() != curve.bytes.size()) {
    section.fault("us", fmt::format("{} numbers, one a size", curve.bytes.size()));
  }
  return section.finish();
}

// All but the tables within.
void read_top(ClusterSection& top, Cluster& cluster) {
  for (const char* key : {"ranks_per_node", "intra", "inter", "copy_gbs"}) top.require(key);
  top.read("description", cluster.description);
  top.read("model", cluster.model);
  top.read("ranks_per_node", cluster.ranks_per_node, 1);
  top.read("collective_launch_us", cluster.collective_launch_us, Bound::kNotNegative);
  top.read("copy_gbs", cluster.copy_gbs, Bound::kPositive);
  top.read("copy_launch_us", cluster.copy_launch_us, Bound::kNotNegative);
  top.read("alignment_bytes", cluster.alignment_bytes, 1);
  top.read("communicator_bytes", cluster.communicator_bytes, 0);
}

Status check_model(ClusterSection& top, Cluster& cluster) {
  if (cluster.model.empty()) cluster.model = cluster.nccl ? "nccl" : "alpha-beta";
  const bool known = cluster.model == "alpha-beta" || cluster.model == "nccl";
  if (!known) top.fault("model", "\"alpha-beta\" or \"nccl\"");
  if (cluster.model == "nccl" && !cluster.nccl) {
    top.fault("model", "\"alpha-beta\", since the file has no [nccl]");
  }
  return top.finish();
}

Status read_cluster(ClusterSection top, Cluster& cluster) {
  read_top(top, cluster);
  ClusterSection compute = top.section("compute");
  std::vector<Status> parts = {read_link(top.section("intra"), cluster.intra),
                               read_link(top.section("inter"), cluster.inter)};
  cluster.compute.memory_gbs = cluster.copy_gbs;
  if (top.has("compute")) parts.push_back(read_compute(std::move(compute), cluster.compute));
  ClusterSection nccl = top.section("nccl");
  if (top.has("nccl")) {
    parts.push_back(read_nccl(std::move(nccl), cluster.nccl.emplace()));
  }
  for (ClusterSection& section : top.sections("measured")) {
    parts.push_back(read_measured(std::move(section), cluster.measured.emplace_back()));
  }
  // A key that is missing above would show again as a fault within.
  if (const Status status = check_model(top, cluster); !status.ok()) return status;
  for (const Status& part : parts) {
    if (!part.ok()) return part;
  }
  return {};
}

}  // namespace

Result<Cluster> parse_cluster(std::string_view text, const std::filesystem::path& file) {
  Cluster cluster;
  cluster.name = file.stem().string();
  try {
    const toml::table table = toml::parse(text);
    const Status status = read_cluster({table, file.string(), ""}, cluster);
    if (!status.ok()) return status;
  } catch (const toml::parse_error& error) {
    // The parser quotes the text where it stopped, line ends included.
    std::string why(error.description());
    std::replace_if(
        why.begin(), why.end(), [](unsigned char c) { return c < ' '; }, ' ');
    return invalid_argument("{}:{}: not TOML: {}", file.string(), error.source().begin.line, why);
  }
  return cluster;
}

}  // namespace onedim
