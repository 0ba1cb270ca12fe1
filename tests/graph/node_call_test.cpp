#include "core/graph/node_call.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/graph/small_graph.hpp"

namespace onedim {
namespace {

class MakeNodeCall : public testing::Test {
 protected:
  Result<NodeCall> call(const Graph& graph, int node) {
    return make_node_call(graph, graph.nodes[node], *registry_.find(graph.nodes[node].op));
  }

  tiny::TinyPack pack_ = small_graph_pack();
  Registry registry_ = tiny::commit(pack_);
  Graph graph_ = small_graph();
};

TEST_F(MakeNodeCall, AttributesAreWhatTheSchemaMeans) {
  const Result<NodeCall> cast = call(graph_, 0);
  ASSERT_TRUE(cast.ok()) << cast.status();
  EXPECT_EQ(*cast->call.attribute("dtype"), Value{DType::kBF16});
  const Result<NodeCall> times = call(graph_, 2);
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_EQ(*times->call.attribute("limit"), Value{INFINITY});
  EXPECT_EQ(*times->call.attribute("scale"), Value{-0.5});
  EXPECT_EQ(*call(graph_, 4)->call.attribute("scale"), Value{1.0});
}

TEST_F(MakeNodeCall, SlotsFollowTheSchemaNotTheFile) {
  std::swap(graph_.nodes[2].inputs[0], graph_.nodes[2].inputs[1]);
  EXPECT_EQ(call(graph_, 2)->slots, (std::vector<ValueId>{2, 5}));
  EXPECT_EQ(call(graph_, 3)->slots, (std::vector<ValueId>{6, kNoValue, kNoValue}));
  graph_.nodes[3].inputs = {{"parts", true, {}}};
  EXPECT_EQ(call(graph_, 3)->slots, (std::vector<ValueId>{kNoValue}));
  graph_.nodes[3].inputs = {{"mask", false, {6}}, {"parts", true, {7, 8}}};
  EXPECT_EQ(call(graph_, 3)->slots, (std::vector<ValueId>{7, 8, 6}));
}

TEST_F(MakeNodeCall, ANumberForATensorHasNoSlot) {
  graph_.nodes[2].inputs.pop_back();
  graph_.nodes[2].attributes.emplace_back("y", Value{2.0});
  const Result<NodeCall> times = call(graph_, 2);
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_EQ(times->slots, (std::vector<ValueId>{2}));
  EXPECT_EQ(*times->call.attribute("y"), Value{2.0});
}

TEST_F(MakeNodeCall, TheIdFollowsTheName) {
  const uint64_t id = call(graph_, 0)->call.call_id;
  EXPECT_NE(id, call(graph_, 5)->call.call_id);
  std::swap(graph_.nodes[0].name, graph_.nodes[5].name);
  EXPECT_EQ(id, call(graph_, 5)->call.call_id);
}

}  // namespace
}  // namespace onedim
