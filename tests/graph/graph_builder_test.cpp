#include "core/graph/graph_builder.hpp"

#include <gtest/gtest.h>

#include "core/graph/graph_infer.hpp"
#include "tests/graph/small_graph.hpp"

namespace onedim {
namespace {

class Builder : public testing::Test {
 protected:
  ValueId add_input(Dims shape) {
    return builder_.add_given(ValueKind::kInput, "x",
                              TensorMeta::contiguous(DType::kBF16, std::move(shape)));
  }

  tiny::TinyPack pack_ = small_graph_pack();
  Registry registry_ = tiny::commit(pack_);
  GraphBuilder builder_{"built", registry_};
};

TEST_F(Builder, NodesMakeWhatTheirOpsInfer) {
  const ValueId x = add_input({4, 3});
  builder_.set_place("layers.0", 0);
  const ValueId flipped = builder_.add("tiny.flip", {{"x", x}});
  EXPECT_EQ(builder_.meta(flipped), (TensorMeta{DType::kBF16, {3, 4}, {1, 3}}));
  const std::vector<ValueId> halves =
      builder_.add_node("tiny.halves", {{"parts", true, {x, kNoValue}}});
  builder_.set_place("");
  builder_.set_phase(Phase::kBackward);
  builder_.set_role("last");
  const ValueId cast =
      builder_.add("tiny.cast", {{"x", flipped}}, {{"dtype", Value{std::string("f32")}}});
  ASSERT_EQ(halves.size(), 3u);
  EXPECT_EQ(halves[1], kNoValue);
  builder_.add_output(halves[2]);
  builder_.add_output(cast);
  const Result<Graph> graph = builder_.finish();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes[0].module, "layers.0");
  EXPECT_EQ(graph->nodes[0].layer, 0);
  EXPECT_EQ(graph->values[halves[2]].name, "tiny_halves.2");
  EXPECT_EQ(graph->nodes[2].phase, Phase::kBackward);
  EXPECT_EQ(graph->nodes[2].role, "last");
  EXPECT_EQ(graph->outputs, (std::vector<ValueId>{halves[2], cast}));
  EXPECT_TRUE(infer_graph(*graph, registry_).is_fine());
}

TEST_F(Builder, NamesAreNumbered) {
  const ValueId x = add_input({4, 3});
  builder_.add("tiny.flip", {{"x", x}});
  builder_.add("tiny.flip", {{"x", x}});
  EXPECT_EQ(builder_.finish()->nodes[1].name, "tiny_flip_1");
}

TEST_F(Builder, TheFirstFaultIsTold) {
  const ValueId x = add_input({3, 3});
  const std::vector<ValueId> halves = builder_.add_node("tiny.halves", {{"parts", true, {x}}});
  EXPECT_EQ(halves, (std::vector<ValueId>{kNoValue}));
  const ValueId next = builder_.add("tiny.nothing", {{"x", halves[0]}});
  EXPECT_EQ(builder_.meta(next), TensorMeta::contiguous(DType::kF32, {}));
  EXPECT_EQ(message_of(builder_.finish().status()),
            "node \"tiny_halves\" (tiny.halves): tiny.halves: halves need an even dim 0");
}

TEST_F(Builder, UnknownOpsAndBrokenGraphsAreRefused) {
  add_input({3, 3});
  add_input({3, 3});
  EXPECT_EQ(message_of(builder_.finish().status()), "value \"x\" is there twice");
  GraphBuilder other("other", registry_);
  other.add("tiny.nothing", {});
  EXPECT_EQ(message_of(other.finish().status()),
            "node \"tiny_nothing\" (tiny.nothing): no pack offers the op");
}

}  // namespace
}  // namespace onedim
