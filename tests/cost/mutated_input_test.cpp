// Damaged cluster and measurement files: each is read or refused in one line, and what was read can
// be priced.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "core/cost/make_cost_model.hpp"
#include "core/cost/measurement.hpp"
#include "tests/pack/mutate_text.hpp"

namespace onedim {
namespace {

constexpr int kRounds = 1500;

void expect_one_line(const Status& status, std::string_view text) {
  EXPECT_EQ(message_of(status).find('\n'), std::string_view::npos) << status << '\n' << text;
  EXPECT_EQ(message_of(status).rfind("f.x", 0), 0u) << status << '\n' << text;
}

TEST(MutatedInput, Clusters) {
  std::mt19937_64 random(random_seed());
  const std::vector<std::string> names = cluster_names();
  int read = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text =
        mutate_text(format_cluster(*load_cluster(names[random() % names.size()])), random);
    const Result<Cluster> cluster = parse_cluster(text, "f.x");
    if (!cluster.ok()) {
      expect_one_line(cluster.status(), text);
      continue;
    }
    ++read;
    const auto model = make_cost_model(*cluster, *Mesh::parse("a=2,b=4"));
    ASSERT_TRUE(model.ok()) << model.status();
    for (int i = 0; i < kCollectiveCount; ++i) {
      const double us = (*model)->collective_us(static_cast<Collective>(i), 0b11, 1 << 20);
      EXPECT_TRUE(std::isfinite(us) && us >= 0) << us << '\n' << text;
    }
  }
  EXPECT_GT(read, kRounds / 20);
}

TEST(MutatedInput, Measurements) {
  std::mt19937_64 random(random_seed());
  std::ifstream file(ONEDIM_TEST_DATA "/colls8_8.table");
  const std::string table((std::istreambuf_iterator<char>(file)), {});
  const std::string tests =
      "# all_gather_perf\n#  Rank  0 Group  0 Pid 1 on a device 0\n"
      "#  Rank  1 Group  0 Pid 2 on a device 1\n"
      "# size count type time algbw busbw error time algbw busbw error\n"
      "[1,0]<stdout>:1024 256 float 12.5 0.1 0.1 0e+00 11.5 0.1 0.1 0e+00\n"
      "2048 512 float 12.0 0.1 0.1 0e+00 11.6 0.1 0.1 0e+00\n";
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = mutate_text(round % 2 == 0 ? table : tests, random);
    const auto rows = parse_measurements(text, "f.x", {});
    if (!rows.ok()) {
      expect_one_line(rows.status(), text);
      continue;
    }
    for (const Measurement& row : *rows) {
      EXPECT_TRUE(row.bytes > 0 && std::isfinite(row.us) && row.us > 0 && row.group.ranks > 1);
    }
  }
}

}  // namespace
}  // namespace onedim
