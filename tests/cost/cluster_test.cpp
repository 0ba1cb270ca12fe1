#include "core/cost/cluster.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

constexpr const char* kSmall = R"(ranks_per_node = 4
copy_gbs = 1000
[intra]
bandwidth_gbs = 100
latency_us = 2
[inter]
bandwidth_gbs = 10
latency_us = 20
)";

// The small file with one line replaced.
std::string with(std::string_view line, std::string_view other) {
  std::string text = kSmall;
  const size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  return text.replace(at, line.size(), other);
}

std::string fault_of(const std::string& text) {
  return std::string(message_of(parse_cluster(text, "c.toml").status()));
}

TEST(Cluster, DefaultsOfASmallFile) {
  const Cluster cluster = *parse_cluster(kSmall, "folder/mine.toml");
  EXPECT_EQ(cluster.name, "mine");
  EXPECT_EQ(cluster.model, "alpha-beta");
  EXPECT_EQ(cluster.ranks_per_node, 4);
  EXPECT_EQ(cluster.inter, (ClusterLink{10, 20}));
  EXPECT_EQ(cluster.copy_launch_us, 0);
  EXPECT_EQ(cluster.compute.memory_gbs, 1000);
  EXPECT_EQ(cluster.compute.efficiency, 1);
  EXPECT_EQ(cluster.alignment_bytes, 1);
  EXPECT_FALSE(cluster.nccl);
}

TEST(Cluster, ShippedFilesLoadAndRoundTrip) {
  const std::vector<std::string> names = cluster_names();
  EXPECT_EQ(names, (std::vector<std::string>{"a100", "alpha_beta", "b200", "h100", "h200", "mpi"}));
  for (const std::string& name : names) {
    const Result<Cluster> cluster = load_cluster(name);
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    EXPECT_EQ(cluster->name, name);
    EXPECT_FALSE(cluster->description.empty());
    const Result<Cluster> again = parse_cluster(format_cluster(*cluster), name + ".toml");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, *cluster) << name;
  }
}

TEST(Cluster, FiguresOfH100) {
  const Cluster cluster = *load_cluster("h100");
  EXPECT_EQ(cluster.nccl->ring.size(), 20u);
  EXPECT_EQ(cluster.nccl->ring.back().protocols[0], (NcclLine{1204, 385.5}));
  EXPECT_EQ(cluster.compute.peak_tflops[static_cast<size_t>(DType::kBF16)], 989);
}

TEST(Cluster, BadNumbersAreNamedWithFileLineAndKey) {
  EXPECT_EQ(fault_of(with("bandwidth_gbs = 100", "bandwidth_gbs = nan")),
            "c.toml:4: intra.bandwidth_gbs is nan; expected a number above 0");
  EXPECT_EQ(fault_of(with("bandwidth_gbs = 100", "bandwidth_gbs = 0")),
            "c.toml:4: intra.bandwidth_gbs is 0; expected a number above 0");
  EXPECT_EQ(fault_of(with("latency_us = 20", "latency_us = -0.5")),
            "c.toml:8: inter.latency_us is -0.5; expected a number from 0 on");
  EXPECT_EQ(fault_of(with("latency_us = 20", "latency_us = inf")),
            "c.toml:8: inter.latency_us is inf; expected a number from 0 on");
  EXPECT_EQ(fault_of(with("copy_gbs = 1000", "copy_gbs = \"fast\"")),
            "c.toml:2: copy_gbs is \"fast\"; expected a number above 0");
  EXPECT_EQ(fault_of(with("ranks_per_node = 4", "ranks_per_node = 0")),
            "c.toml:1: ranks_per_node is 0; expected a whole number from 1 on");
  EXPECT_EQ(fault_of(with("ranks_per_node = 4", "ranks_per_node = 4.5")),
            "c.toml:1: ranks_per_node is 4.5; expected a whole number from 1 on");
}

TEST(Cluster, UnknownAndMissingKeys) {
  EXPECT_EQ(fault_of(with("copy_gbs = 1000", "copy_gbs = 1\ncopy_lanch_us = 1")),
            "c.toml:3: unknown key copy_lanch_us; did you mean \"copy_launch_us\"?");
  EXPECT_EQ(fault_of(with("latency_us = 20", "latency_us = 1\nbandwith_gbs = 1")),
            "c.toml:9: unknown key inter.bandwith_gbs; did you mean \"bandwidth_gbs\"?");
  EXPECT_EQ(fault_of(with("latency_us = 20", "")), "c.toml:6: inter.latency_us is missing");
  EXPECT_EQ(fault_of(with("copy_gbs = 1000", "")), "c.toml:1: copy_gbs is missing");
  EXPECT_EQ(fault_of(with("copy_gbs = 1000", "copy_gsb = 1000")),
            "c.toml:2: unknown key copy_gsb; did you mean \"copy_gbs\"?");
  EXPECT_EQ(fault_of(""), "c.toml:1: ranks_per_node is missing");
  EXPECT_EQ(fault_of(with("[inter]", "[intra]")).rfind("c.toml:6: not TOML: ", 0), 0u);
  EXPECT_EQ(fault_of("intra = 3\n" + with("[intra]\nbandwidth_gbs = 100\nlatency_us = 2\n", "")),
            "c.toml:1: intra is 3; expected a table");
}

TEST(Cluster, ModelsMustFit) {
  EXPECT_EQ(fault_of(with("copy_gbs = 1000", "copy_gbs = 1\nmodel = \"nccl\"")),
            "c.toml:3: model is \"nccl\"; expected \"alpha-beta\", since the file has no [nccl]");
  EXPECT_EQ(fault_of(with("copy_gbs = 1000", "copy_gbs = 1\nmodel = \"ring\"")),
            "c.toml:3: model is \"ring\"; expected \"alpha-beta\" or \"nccl\"");
}

TEST(Cluster, TablesAreChecked) {
  const std::string nccl =
      "[nccl]\nll_cap_gbs = [1, 2, 3]\ntree_channel_gbs = [1, 2, 3]\nring_ll128_channel_gbs = 1\n";
  EXPECT_EQ(fault_of(kSmall + nccl), "");
  EXPECT_EQ(fault_of(kSmall + nccl + "ring = [[2, 1, 3]]\n"),
            "c.toml:13: nccl.ring[0] is a list; expected a row of 8 numbers");
  EXPECT_EQ(fault_of(kSmall + nccl + "ring = [[2, 1, 3, -1, 0, 0, 0, 0]]\n"),
            "c.toml:13: nccl.ring[0] is -1; expected a number from 0 on");
  EXPECT_EQ(
      fault_of(kSmall + nccl + "tree = [[1, 1, 3, 1, 0, 0, 0, 0]]\n"),
      "c.toml:13: nccl.tree is a list; expected rows that start with 2 or more nodes and 1 or "
      "more ranks a node");
  EXPECT_EQ(fault_of(kSmall + nccl + "nvls_tree_channel_gbs = [1]\n"),
            "c.toml:13: nccl.nvls_tree_channel_gbs is a list; expected a list of 2 numbers");
}

std::string measured(std::string_view bytes, std::string_view us) {
  return fmt::format(
      "{}[[measured]]\ncollective = \"all_reduce\"\nnodes = 1\nranks_per_node = 4\nbytes = {}\n"
      "us = {}\n",
      kSmall, bytes, us);
}

TEST(Cluster, MeasuredCurvesAreChecked) {
  EXPECT_EQ(fault_of(measured("[1024, 2048]", "[3, 4]")), "");
  EXPECT_EQ(fault_of(measured("[2048, 1024]", "[3, 4]")),
            "c.toml:13: measured[0].bytes is a list; expected whole numbers that rise");
  EXPECT_EQ(fault_of(measured("[1024, 2048]", "[3]")),
            "c.toml:14: measured[0].us is a list; expected 2 numbers, one a size");
  EXPECT_EQ(fault_of(measured("[1024, 2048]", "[3, nan]")),
            "c.toml:14: measured[0].us[1] is nan; expected a number above 0");
  EXPECT_EQ(fault_of(measured("[1024]", "[3]")),
            "c.toml:13: measured[0].bytes is a list; expected 2 or more sizes");
}

TEST(Cluster, FilesThatAreNotThere) {
  EXPECT_EQ(message_of(load_cluster("h10").status()),
            "there is no cluster \"h10\" among a100, alpha_beta, b200, h100, h200, mpi (a file is "
            "given as a path); did you mean \"h100\"?");
  EXPECT_EQ(message_of(load_cluster("./none.toml").status()),
            "there is no cluster file ./none.toml");
  EXPECT_EQ(message_of(load_cluster("/").status()), "cluster file / cannot be read");
}

}  // namespace
}  // namespace onedim
