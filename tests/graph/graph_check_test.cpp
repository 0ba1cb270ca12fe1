#include "core/graph/graph_check.hpp"

#include <gtest/gtest.h>

#include "tests/graph/small_graph.hpp"

namespace onedim {
namespace {

// What is wrong with the small graph after `change`.
template <typename Change>
std::string fault(Change change) {
  Graph graph = small_graph();
  change(graph);
  const Status status = check_graph(graph);
  return status.ok() ? "" : std::string(message_of(status));
}

TEST(GraphCheck, AGoodGraphPasses) {
  EXPECT_EQ(fault([](Graph&) {}), "");
  EXPECT_TRUE(check_graph(Graph{}).ok());
}

TEST(GraphCheck, NamesAreDistinct) {
  EXPECT_EQ(fault([](Graph& g) { g.values[4].name = "x"; }), "value \"x\" is there twice");
  EXPECT_EQ(fault([](Graph& g) { g.values[4].name = ""; }), "value 4 has no name");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[2].name = "wt"; }),
            "node \"wt\" (tiny.times) is there twice");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[2].name = ""; }), "node 2 has no name");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[2].op = ""; }), "node \"y\" (): has no op");
}

TEST(GraphCheck, AValueIsMadeOnce) {
  EXPECT_EQ(fault([](Graph& g) { g.nodes[5].outputs[0] = 9; }),
            "node \"gw\" (tiny.cast): makes \"g\", which node \"g\" (tiny.times) makes already");
  EXPECT_EQ(
      fault([](Graph& g) { g.nodes[3].outputs[2] = 7; }),
      "node \"h\" (tiny.halves): makes \"h.0\", which node \"h\" (tiny.halves) makes already");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[5].outputs[0] = 0; }),
            "node \"gw\" (tiny.cast): makes \"w\", which is given: its kind is param");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[5].outputs[0] = 11; }),
            "node \"gw\" (tiny.cast): makes value 11, which is not there");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[5].outputs[0] = kNoValue; }),
            "value \"gw\" is intermediate, but no node makes it");
}

TEST(GraphCheck, NodesStandInTheOrderTheyRun) {
  EXPECT_EQ(fault([](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }),
            "node \"wt\" (tiny.flip): input \"x\": \"w16\" is made later, by node \"w16\" "
            "(tiny.cast); nodes must stand in the order they run");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[4].inputs[0].values[0] = 9; }),
            "node \"g\" (tiny.times): input \"x\": \"g\" is what the node makes itself");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[4].inputs[0].values[0] = -2; }),
            "node \"g\" (tiny.times): input \"x\": value -2 is not there");
}

TEST(GraphCheck, ArgumentsAreGivenOnce) {
  EXPECT_EQ(fault([](Graph& g) { g.nodes[4].inputs[1].name = "x"; }),
            "node \"g\" (tiny.times): argument \"x\" is given twice");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[0].attributes[0].first = "x"; }),
            "node \"w16\" (tiny.cast): argument \"x\" is given twice");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[4].inputs[1].values.clear(); }),
            "node \"g\" (tiny.times): argument \"y\" holds 0 values, but is no list");
}

TEST(GraphCheck, OutputsAndGradientsAreValues) {
  EXPECT_EQ(fault([](Graph& g) { g.outputs[0] = 99; }), "output 99 is no value of the graph");
  EXPECT_EQ(fault([](Graph& g) { g.forward_outputs = 5; }), "5 forward outputs of 4 outputs");
  EXPECT_EQ(fault([](Graph& g) { g.forward_outputs = -2; }), "-2 forward outputs of 4 outputs");
  EXPECT_EQ(fault([](Graph& g) { g.gradients[0].gradient = kNoValue; }),
            "a gradient names a value that is not there");
  EXPECT_EQ(fault([](Graph& g) { g.gradients[0].param = 2; }),
            "gradient of \"x\": its kind is input, not param");
  EXPECT_EQ(fault([](Graph& g) { g.gradients.push_back(g.gradients[0]); }),
            "gradient of \"w\" is there twice");
  EXPECT_EQ(fault([](Graph& g) { g.gradients[0].gradient = 6; }),
            "gradient of \"w\": \"y\" has shape [4,3], the parameter [3,4]");
}

}  // namespace
}  // namespace onedim
