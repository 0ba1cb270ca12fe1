#include <gtest/gtest.h>

#include "core/cost/measurement.hpp"

namespace onedim {
namespace {

constexpr std::string_view kNew =
    R"(# nccl-tests version 2.17.1 nccl-headers=22707 nccl-library=22707
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 1024 maxBytes 4096 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid    101 on    alpha device  0 [0000:04:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid    102 on    alpha device  1 [0000:05:00] NVIDIA H100 80GB HBM3
#  Rank  2 Group  0 Pid    103 on     beta device  0 [0000:04:00] NVIDIA H100 80GB HBM3
#  Rank  3 Group  0 Pid    104 on     beta device  1 [0000:05:00] NVIDIA H100 80GB HBM3
alpha:101:130 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 4 - Init COMPLETE
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           0             0     float     sum      -1     5.01    0.00    0.00      0     4.90    0.00    0.00      0
        1024           256     float     sum      -1    22.50    0.05    0.07      0    21.75    0.05    0.07      0
        4096          1024     float     sum      -1    25.00    0.16    0.25      0    24.00    0.17    0.26    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.1625
#
)";

constexpr std::string_view kOld =
    R"([1,0]<stdout>:# nThread 1 nGpus 8 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
[1,0]<stdout>:#                                                  out-of-place                       in-place
[1,0]<stdout>:#       size         count      type     time   algbw   busbw  error     time   algbw   busbw  error
[1,0]<stdout>:#        (B)    (elements)               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
[1,1]<stderr>:1 warning that starts with a number
[1,0]<stdout>:     1048576        131072     float    31.20   33.61   29.41  0e+00    30.10   34.84   30.48  0e+00
)";

const ClusterGroup kTwoByTwo{4, 2, 2};

std::string fault_of(std::string_view text, const MeasurementOptions& options = {},
                     const std::string& file = "run.txt") {
  return std::string(message_of(parse_measurements(text, file, options).status()));
}

std::string with(std::string_view text, std::string_view part, std::string_view other) {
  std::string result(text);
  const size_t at = result.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return result.replace(at, part.size(), other);
}

TEST(NcclTests, NewOutputWithRanksOnTwoNodes) {
  const auto rows = parse_measurements(kNew, "run.txt", {});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(*rows, (std::vector<Measurement>{{Collective::kAllReduce, kTwoByTwo, 1024, 22.5},
                                             {Collective::kAllReduce, kTwoByTwo, 4096, 25}}));
}

TEST(NcclTests, InPlaceColumns) {
  MeasurementOptions options;
  options.in_place = true;
  const auto rows = parse_measurements(kNew, "run.txt", options);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ((*rows)[1].us, 24);
}

TEST(NcclTests, OldOutputWithRankPrefixAndWithoutRedop) {
  const auto rows = parse_measurements(kOld, "logs/all_gather.log", {std::nullopt, 1, 8, 8, false});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(
      *rows,
      (std::vector<Measurement>{{Collective::kAllGather, ClusterGroup{8, 1, 8}, 1048576, 31.2}}));
}

TEST(NcclTests, OptionsWinOverTheText) {
  const auto rows =
      parse_measurements(kNew, "run.txt", {Collective::kReduceScatter, 1, 4, 8, false});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->front().collective, Collective::kReduceScatter);
  EXPECT_EQ(rows->front().group, (ClusterGroup{4, 1, 4}));
}

TEST(NcclTests, AllToAllByItsProgramName) {
  const auto rows = parse_measurements(with(kNew, "all_reduce_perf", "alltoall_perf"), "r", {});
  EXPECT_EQ(rows->front().collective, Collective::kAllToAll);
}

TEST(NcclTests, WhatTheFileDoesNotSay) {
  EXPECT_EQ(fault_of(kOld, {std::nullopt, 1, 8, 8, false}),
            "run.txt:6: the file does not say which collective it measures; give --collective");
  EXPECT_EQ(fault_of(kOld, {Collective::kAllGather, 0, 0, 8, false}),
            "run.txt:6: no \"# Rank\" lines before; give --nodes and --ranks-per-node");
  EXPECT_EQ(fault_of(with(kNew, "all_reduce_perf", "sendrecv_perf")),
            "run.txt:15: sendrecv_perf is not priced; expected all_gather, reduce_scatter, "
            "all_reduce, alltoall or broadcast");
  EXPECT_EQ(fault_of(with(kNew, " beta", "alpha")),
            "run.txt:15: nodes hold 3 and 1 ranks; expected as many on each");
}

TEST(NcclTests, BadRows) {
  EXPECT_EQ(fault_of(with(kNew, "22.50", "fast ")),
            "run.txt:16: out-of-place time is \"fast\"; expected a number");
  EXPECT_EQ(fault_of(with(kNew, "22.50", "  nan")),
            "run.txt:16: out-of-place time is \"nan\"; expected a number");
  EXPECT_EQ(fault_of(with(kNew, "22.50", "-2.50")),
            "run.txt:16: out-of-place time is \"-2.50\"; expected a number");
  EXPECT_EQ(fault_of(with(kNew, "22.50", " 0.00")), "run.txt:16: time is 0; expected more");
  EXPECT_EQ(fault_of(with(kNew, "22.50", "     ")),
            "run.txt:16: 12 columns; expected 13 as titled in line 13");
  EXPECT_EQ(fault_of(with(kNew, "0.07      0    21", "0.07      3    21")),
            "run.txt:16: 3 wrong values in the results; expected 0");
}

TEST(NcclTests, FilesThatHoldNothing) {
  EXPECT_EQ(fault_of(""),
            "run.txt is no measurement: neither output of nccl-tests (titles with time and busbw) "
            "nor a table of collectives (titles Group, Group Size, Collective)");
  EXPECT_EQ(fault_of(kNew.substr(0, kNew.find("           0"))),
            "run.txt has column titles but no sizes");
  EXPECT_EQ(fault_of("1024 3 4\n" + std::string(kNew)),
            "run.txt:1: a size before the column titles");
}

}  // namespace
}  // namespace onedim
