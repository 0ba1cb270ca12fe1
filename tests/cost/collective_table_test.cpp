#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/cost/measurement.hpp"

namespace onedim {
namespace {

constexpr std::string_view kTable =
    "  Group  Group Size  Collective              1MB (ms)  2MB (ms)\n"
    "-------  ----------  ----------------------  --------  --------\n"
    "      1           8  all_reduce                 0.028     0.041\n"
    "      0           2  all_gather_into_tensor     0.200     0.300\n";

std::string fault_of(std::string_view text, const MeasurementOptions& options = {}) {
  return std::string(message_of(parse_measurements(text, "t.table", options).status()));
}

std::string with(std::string_view part, std::string_view other) {
  std::string result(kTable);
  const size_t at = result.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return result.replace(at, part.size(), other);
}

// All-gather counts what it gathers; group 0 is the outer mesh dim, so one rank a node.
TEST(CollectiveTable, BytesAndGroups) {
  const auto rows = parse_measurements(kTable, "t.table", {});
  ASSERT_TRUE(rows.ok()) << rows.status();
  const ClusterGroup inner{8, 1, 8}, outer{2, 2, 1};
  EXPECT_EQ(*rows, (std::vector<Measurement>{{Collective::kAllReduce, inner, 1 << 20, 28},
                                             {Collective::kAllReduce, inner, 2 << 20, 41},
                                             {Collective::kAllGather, outer, 2 << 20, 200},
                                             {Collective::kAllGather, outer, 4 << 20, 300}}));
}

// What the measurements themselves tell: an all-gather of 8 MB takes what a reduce-scatter does.
TEST(CollectiveTable, AMeasuredFile) {
  std::ifstream file(ONEDIM_TEST_DATA "/colls8_8.table");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto rows = parse_measurements(text, "colls8_8.table", {});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->size(), 60u);
  const auto us = [&](Collective collective, int64_t nodes, int64_t bytes) {
    for (const Measurement& row : *rows) {
      if (row.collective == collective && row.group.nodes == nodes && row.bytes == bytes) {
        return row.us;
      }
    }
    return 0.0;
  };
  EXPECT_NEAR(us(Collective::kAllGather, 8, 8 << 20), 239.7, 1e-9);
  EXPECT_NEAR(us(Collective::kReduceScatter, 8, 8 << 20), 239.7, 1e-9);
  EXPECT_NEAR(us(Collective::kAllGather, 1, 8 << 20), 49.5, 1e-9);
}

TEST(CollectiveTable, GroupsThatAreGiven) {
  MeasurementOptions options;
  options.nodes = 2;
  options.ranks_per_node = 4;
  EXPECT_EQ(fault_of(kTable, options), "t.table: group 0 has 2 ranks, not 2 nodes x 4");
  const auto rows = parse_measurements(
      with("      0           2  all_gather_into_tensor     0.200     0.300\n", ""), "t", options);
  EXPECT_EQ(rows->front().group, (ClusterGroup{8, 2, 4}));
}

TEST(CollectiveTable, BadTables) {
  EXPECT_EQ(fault_of(with("0.041", "")), "t.table:3: 4 columns; expected 5 as titled");
  EXPECT_EQ(fault_of(with("0.041", "nan  ")),
            "t.table:3: time is \"nan\"; expected a number above 0");
  EXPECT_EQ(fault_of(with("0.041", "-1   ")),
            "t.table:3: time is \"-1\"; expected a number above 0");
  EXPECT_EQ(fault_of(with("all_reduce ", "all_redcue ")),
            "t.table:3: unknown collective \"all_redcue\"; did you mean \"all_reduce\"?");
  EXPECT_EQ(fault_of(with("2MB (ms)", "2MB (s)")),
            "t.table:1: title \"2MB (s)\" is no size with a unit, such as 16MB (ms)");
  EXPECT_EQ(fault_of(with("1           8", "1           1")),
            "t.table:3: group size is \"1\"; expected 2 to 2^20 ranks");
  EXPECT_EQ(fault_of(with("      0           2", "      1           2")),
            "t.table:4: group 1 has 2 ranks here and 8 before");
}

}  // namespace
}  // namespace onedim
