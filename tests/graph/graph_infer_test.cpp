#include "core/graph/graph_infer.hpp"

#include <gtest/gtest.h>

#include "tests/graph/small_graph.hpp"

namespace onedim {
namespace {

class GraphInfer : public testing::Test {
 protected:
  // What the packs say of the small graph after `change`.
  template <typename Change>
  GraphInference infer_with(Change change) {
    Graph graph = small_graph();
    change(graph);
    return infer_graph(graph, registry_);
  }
  template <typename Change>
  std::string fault(Change change) {
    const GraphInference inference = infer_with(change);
    EXPECT_EQ(inference.faults.size(), 1u);
    return inference.faults.empty() ? "" : inference.faults[0];
  }

  tiny::TinyPack pack_ = small_graph_pack();
  Registry registry_ = tiny::commit(pack_);
};

TEST_F(GraphInfer, AGoodGraphAgrees) {
  const GraphInference inference = infer_with([](Graph&) {});
  EXPECT_TRUE(inference.is_fine());
  EXPECT_EQ(inference.faults, std::vector<std::string>{});
}

TEST_F(GraphInfer, ViewsShareStorage) {
  const Storages storages = infer_with([](Graph&) {}).storages;
  EXPECT_EQ(storages.root_of(5), 4);  // wt lies in w16
  EXPECT_FALSE(storages.is_root(5));
  EXPECT_EQ(storages.offset_of(5), 0);
  EXPECT_EQ(storages.bytes_of(4), 24);
  for (const ValueId value : {0, 1, 2, 3, 4, 6, 7, 8, 9, 10}) EXPECT_TRUE(storages.is_root(value));
}

TEST_F(GraphInfer, DifferencesAreToldByNode) {
  EXPECT_EQ(fault([](Graph& g) { g.values[10].meta.dtype = DType::kF64; }),
            "node \"gw\" (tiny.cast): output 0 \"gw\": expected dtype f32, found f64");
  EXPECT_EQ(fault([](Graph& g) {
              g.values[8].meta = TensorMeta::contiguous(DType::kBF16, {3, 3});
            }),
            "node \"h\" (tiny.halves): output 2 \"h.2\": expected shape [2,3], found [3,3]");
  EXPECT_EQ(fault([](Graph& g) {
              g.values[10].meta.strides = {1, 3};
            }),
            "node \"gw\" (tiny.cast): output 0 \"gw\": expected strides [4,1], found [1,3], of "
            "shape [3,4]");
}

TEST_F(GraphInfer, AFaultDoesNotSpread) {
  // The nodes behind it agree with what the graph says of their inputs.
  const GraphInference inference = infer_with([](Graph& g) {
    g.values[4].meta.shape = {6, 2};
    g.values[4].meta.strides = {2, 1};
    g.values[5].meta.shape = {2, 6};
    g.values[5].meta.strides = {1, 2};
  });
  EXPECT_EQ(inference.faults,
            (std::vector<std::string>{"node \"w16\" (tiny.cast): output 0 \"w16\": expected shape "
                                      "[3,4], found [6,2]"}));
}

TEST_F(GraphInfer, OutputsAreCountedAndMayBeAbsent) {
  EXPECT_EQ(fault([](Graph& g) {
              g.nodes[3].outputs = {7, 8};
            }),
            "node \"h\" (tiny.halves): expected 3 outputs, found 2");
  EXPECT_EQ(infer_with([](Graph& g) {
              g.nodes[3].outputs = {7, 8, kNoValue};
            }).faults,
            (std::vector<std::string>{
                "node \"h\" (tiny.halves): output 1: expected no tensor, found \"h.2\"",
                "node \"h\" (tiny.halves): output 2: expected bf16[2,3], found no tensor"}));
  EXPECT_EQ(fault([](Graph& g) {
              g.nodes[3].outputs = {kNoValue, kNoValue, 8};
            }),
            "node \"h\" (tiny.halves): output 0: expected bf16[2,3], found no tensor");
}

TEST_F(GraphInfer, WhatThePackRefusesIsAFault) {
  EXPECT_EQ(fault([](Graph& g) { g.nodes[3].inputs[0].values = {0}; }),
            "node \"h\" (tiny.halves): tiny.halves: halves need an even dim 0");
}

TEST_F(GraphInfer, ArgumentsFollowTheSchema) {
  EXPECT_EQ(fault([](Graph& g) { g.nodes[4].inputs[1].name = "z"; }),
            "node \"g\" (tiny.times): tiny.times has no argument \"z\"");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[4].inputs[1].name = "scale"; }),
            "node \"g\" (tiny.times): argument \"scale\" is float, not a tensor");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[4].inputs[1].is_list = true; }),
            "node \"g\" (tiny.times): argument \"y\" is Tensor, not a list");
  EXPECT_EQ(fault([](Graph& g) {
              g.nodes[3].inputs[0] = {"parts", false, {6}};
            }),
            "node \"h\" (tiny.halves): argument \"parts\" is Tensor?[], not a single tensor");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[4].inputs.pop_back(); }),
            "node \"g\" (tiny.times): tiny.times: tensor \"y\" is missing");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[0].attributes[0].second = Value{std::string("bf61")}; }),
            "node \"w16\" (tiny.cast): tiny.cast: argument \"dtype\": unknown dtype \"bf61\", "
            "expected one of f64 f32 bf16 f16 f8e4m3fn f8e5m2 f8e8m0 i64 i32 i16 i8 u8 bool c64 "
            "c128; did "
            "you mean \"bf16\"?");
}

TEST_F(GraphInfer, UnknownOpsAreNamedTogether) {
  const GraphInference inference = infer_with([](Graph& g) {
    g.nodes[1].op = "tiny.unflip";
    g.nodes[4].op = "tiny.product";
    g.nodes[2].op = "tiny.product";
    g.values[10].meta.dtype = DType::kF64;
  });
  EXPECT_FALSE(inference.is_fine());
  EXPECT_EQ(inference.unknown_ops, (std::vector<std::string>{"tiny.product", "tiny.unflip"}));
  EXPECT_EQ(inference.faults.size(), 1u);
  EXPECT_EQ(unknown_ops_text({"a"}), "no pack offers a");
  EXPECT_EQ(unknown_ops_text({"a", "b", "c"}), "no pack offers a, b and c");
}

}  // namespace
}  // namespace onedim
