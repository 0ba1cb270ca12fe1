#include "core/solve/iopddl_read.hpp"

#include <gtest/gtest.h>

#include "core/solve/solver.hpp"

namespace onedim {
namespace {

constexpr std::string_view kGood =
    R"({"problem":{"name":"n","nodes":{"intervals":[[0,2],[1,3]],"costs":[[1,2],[3]],)"
    R"("usages":[[4,5],[6]]},"edges":{"nodes":[[0,1]],"costs":[[7,8]]},"usage_limit":11}})";

std::string changed(std::string_view from, std::string_view to) {
  std::string text(kGood);
  return text.replace(text.find(from), from.size(), to);
}

std::string fault_of(const std::string& text) {
  const Result<CostNetwork> network = parse_iopddl(text, "x.json");
  return network.ok() ? "" : std::string(message_of(network.status()));
}

TEST(IopddlRead, ReadsNodesEdgesAndLimit) {
  const CostNetwork network = *parse_iopddl(std::string(kGood), "x.json");
  EXPECT_EQ(network.name, "n");
  ASSERT_EQ(network.nodes.size(), 2u);
  EXPECT_EQ(network.nodes[0].costs, (std::vector<Cost>{1, 2}));
  EXPECT_EQ(network.nodes[0].uses[0].begin, 0);
  EXPECT_EQ(network.nodes[0].uses[0].end, 2);
  EXPECT_EQ(network.nodes[0].uses[0].bytes, (std::vector<int64_t>{4, 5}));
  ASSERT_EQ(network.edges.size(), 1u);
  EXPECT_EQ(network.tables[0].cells, (std::vector<Cost>{7, 8}));
  EXPECT_EQ(network.memory_limit, 11);
}

TEST(IopddlRead, LimitAndUsesMayBeLeftOut) {
  EXPECT_EQ(fault_of(changed(R"(,"usage_limit":11)", "")), "");
  EXPECT_EQ(fault_of(R"({"problem":{"nodes":{"costs":[[1]]},"edges":{"nodes":[],"costs":[]}}})"),
            "");
}

TEST(IopddlRead, EachFaultIsOneLineThatNamesThePlace) {
  EXPECT_EQ(fault_of(changed("[[1,2],[3]]", "[[1,2],[]]")),
            "\"x.json\": node 1 has no value; expected at least one cost");
  EXPECT_EQ(fault_of(changed("[7,8]", "[7]")),
            "\"x.json\": edge 0 has 1 costs for nodes 0 and 1 of 2 and 1 values; expected 2");
  EXPECT_EQ(fault_of(changed("[[0,1]]", "[[0,2]]")),
            "\"x.json\": edge 0 joins node 2, of which there are 2");
  EXPECT_EQ(fault_of(changed("[[0,1]]", "[[0,0]]")),
            "\"x.json\": edge 0 joins node 0 to itself; expected two nodes");
  EXPECT_EQ(fault_of(changed("[[0,1]]", "[[0,1,1]]")),
            "\"x.json\": \"edges\": \"nodes\"[0] has 3 numbers; expected two nodes");
  EXPECT_EQ(fault_of(changed("[4,5]", "[4]")),
            "\"x.json\": node 0 has 1 usages for 2 costs; expected one for each");
  EXPECT_EQ(fault_of(changed("[4,5]", "[4,-5]")),
            "\"x.json\": node 0 has usage -5; expected none below 0");
  EXPECT_EQ(fault_of(changed("[4,5]", "[4,5.5]")),
            "\"x.json\": \"nodes\": \"usages\"[0][1] must be a whole number of 64 bits");
  EXPECT_EQ(fault_of(changed("[0,2]", "[0]")),
            "\"x.json\": \"nodes\": \"intervals\"[0] has 1 numbers; expected begin and end");
  EXPECT_EQ(fault_of(changed("[[7,8]]", "[]")),
            "\"x.json\": \"edges\": \"costs\" has 0 entries and \"nodes\" 1; expected as many");
  EXPECT_EQ(fault_of(changed("usage_limit\":11", "usage_limit\":-1")),
            "\"x.json\": the memory limit is -1; expected none below 0");
  EXPECT_EQ(fault_of(changed("\"usage_limit\"", "\"usage_limits\"")),
            "\"x.json\": \"problem\": unknown key \"usage_limits\", expected one of name "
            "nodes edges usage_limit; did you mean \"usage_limit\"?");
  EXPECT_EQ(fault_of("{}"), "\"x.json\": \"problem\" is missing");
  EXPECT_EQ(fault_of("[1]"), "\"x.json\" holds no JSON object; expected format \"IOPDDL\"");
}

}  // namespace
}  // namespace onedim
