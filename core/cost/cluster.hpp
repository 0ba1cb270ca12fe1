#pragma once
// Cluster: a machine as cost models see it, read from a TOML file whose keys are described in
// clusters/alpha_beta.toml. Invariant: every bandwidth is above 0, every latency at least 0, all
// numbers are finite; measured curves rise in bytes. GB/s are 10^9 bytes a second.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/collective.hpp"
#include "core/cost/nccl_tables.hpp"
#include "core/tensor/dtype.hpp"

namespace onedim {

struct ClusterLink {
  double bandwidth_gbs = 1;  // of one rank, one direction
  double latency_us = 0;     // of one step
  bool operator==(const ClusterLink&) const = default;
};

// Times of one collective on `nodes` x `ranks_per_node` ranks; bytes as collective.hpp counts.
struct MeasuredCurve {
  Collective collective = Collective::kAllGather;
  int64_t nodes = 1;
  int64_t ranks_per_node = 1;
  std::vector<int64_t> bytes;
  std::vector<double> us;
  bool operator==(const MeasuredCurve&) const = default;
};

struct ClusterCompute {
  double memory_gbs = 1;                          // reads and writes together
  double efficiency = 1;                          // the share of both peaks that kernels reach
  double launch_us = 0;                           // the least that a kernel takes
  std::array<double, kDTypeCount> peak_tflops{};  // 0: unknown
  bool operator==(const ClusterCompute&) const = default;
};

struct Cluster {
  std::string name;  // the file's, without `.toml`
  std::string description;
  std::string model;  // the default: alpha-beta or nccl
  int64_t ranks_per_node = 1;
  ClusterLink intra, inter;
  double collective_launch_us = 0;  // alpha-beta: once a collective
  double copy_gbs = 1;              // a local copy, reads and writes together
  double copy_launch_us = 0;        // the least that one takes
  int64_t alignment_bytes = 1;      // of the device's allocator
  int64_t communicator_bytes = 0;   // device memory of one communicator on each rank
  ClusterCompute compute;
  std::optional<NcclTables> nccl;
  std::vector<MeasuredCurve> measured;
  bool operator==(const Cluster&) const = default;
};

// `file` is named in errors, and its stem names the cluster. Errors give file, line and key.
Result<Cluster> parse_cluster(std::string_view text, const std::filesystem::path& file);

// TOML that parse_cluster reads as the same cluster, except for the name.
std::string format_cluster(const Cluster& cluster);

// `h100`: a cluster that came with onedim (from share/onedim beside the program, else from the
// source tree); with `/` or `.toml` in it: a file.
Result<Cluster> load_cluster(std::string_view name_or_path);
// Names that load_cluster accepts, sorted.
std::vector<std::string> cluster_names();

}  // namespace onedim
