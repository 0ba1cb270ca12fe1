#include "core/graph/graph_read.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/graph/graph_write.hpp"
#include "tests/graph/small_graph.hpp"
#include "tests/pack/mutate_text.hpp"

namespace onedim {
namespace {

std::string fault(const std::string& text) {
  const Result<Graph> graph = parse_graph(text, "f.json");
  return graph.ok() ? "" : std::string(message_of(graph.status()));
}

std::string fault_with(std::string_view from, std::string_view to) {
  return fault(small_graph_with(from, to));
}

TEST(GraphRead, Values) {
  const Graph graph = small_graph();
  EXPECT_EQ(graph.name, "small");
  ASSERT_EQ(graph.value_count(), 11);
  EXPECT_EQ(graph.values[0], (GraphValue{"w", TensorMeta::contiguous(DType::kF32, {3, 4}),
                                         ValueKind::kParam, "layers.0.w"}));
  EXPECT_EQ(graph.values[1].meta, TensorMeta::contiguous(DType::kF64, {}));
  EXPECT_EQ(graph.values[1].kind, ValueKind::kBuffer);
  EXPECT_EQ(graph.values[2].kind, ValueKind::kInput);
  EXPECT_EQ(graph.values[3].kind, ValueKind::kTangent);
  EXPECT_EQ(graph.values[5].meta, (TensorMeta{DType::kBF16, {4, 3}, {1, 4}}));
  EXPECT_EQ(graph.values[5].kind, ValueKind::kIntermediate);
}

TEST(GraphRead, Nodes) {
  const Graph graph = small_graph();
  ASSERT_EQ(graph.node_count(), 6);
  GraphNode cast{
      "w16", "tiny.cast",     {{"x", false, {0}}}, {{"dtype", Value{std::string("bf16")}}},
      {4},   "dtype_cast",    Phase::kForward,     "layers.0",
      0,     Recompute::kNone};
  EXPECT_EQ(graph.nodes[0], cast);
  EXPECT_EQ(graph.nodes[1].recompute, Recompute::kPreferRecompute);
  EXPECT_EQ(graph.nodes[1].layer, -1);
  EXPECT_EQ(graph.nodes[1].module, std::nullopt);
  EXPECT_EQ(graph.nodes[4].module, "");
  const std::vector<std::pair<std::string, Value>> attributes = {
      {"scale", Value{-0.5}},
      {"limit", Value{std::string("inf")}},
      {"sizes", Value{ValueList{Value{int64_t{1}}, Value{int64_t{2}}}}}};
  EXPECT_EQ(graph.nodes[2].attributes, attributes);
  const std::vector<NodeInput> inputs = {{"parts", true, {6, kNoValue}},
                                         {"mask", false, {kNoValue}}};
  EXPECT_EQ(graph.nodes[3].inputs, inputs);
  EXPECT_EQ(graph.nodes[3].outputs, (std::vector<ValueId>{7, kNoValue, 8}));
  EXPECT_EQ(graph.nodes[4].phase, Phase::kBackward);
}

TEST(GraphRead, Ends) {
  const Graph graph = small_graph();
  EXPECT_EQ(graph.outputs, (std::vector<ValueId>{7, 8, kNoValue, 10}));
  EXPECT_EQ(graph.gradients, (std::vector<Gradient>{{0, 10}}));
  EXPECT_EQ(graph.forward_outputs, 2);
  const Result<Graph> bare = parse_graph(
      R"({"format":"onedim.graph/1","values":{},"nodes":[],"outputs":[]})", "bare.json");
  ASSERT_TRUE(bare.ok()) << bare.status();
  EXPECT_EQ(*bare, Graph{});
}

TEST(GraphRead, WhatIsNoGraphIsRefused) {
  EXPECT_EQ(fault(""), "\"f.json\" is not JSON: empty: no JSON found");
  EXPECT_EQ(fault("[]"), "\"f.json\" holds no JSON object; expected format \"onedim.graph/1\"");
  EXPECT_EQ(fault_with("graph/1", "graph/2"),
            "\"f.json\" is in format \"onedim.graph/2\"; expected \"onedim.graph/1\"");
  EXPECT_EQ(fault("{}"), "\"f.json\": \"format\" is missing");
  EXPECT_EQ(fault_with("\"outputs\":[\"h.0\",\"h.2\",null,\"gw\"],", ""),
            "\"f.json\": \"outputs\" is missing");
  EXPECT_EQ(fault_with("\"n_forward_outputs\":2", "\"n_forward_outputs\":-1"),
            "\"f.json\": \"n_forward_outputs\" must be a whole number from 0 on, not -1");
  EXPECT_EQ(fault_with("\"n_forward_outputs\":2", "\"n_forward_outputs\":5"),
            "\"f.json\": 5 forward outputs of 4 outputs");
  EXPECT_EQ(message_of(read_graph("no/such/file.json").status()),
            "cannot read \"no/such/file.json\": No such file or directory");
}

TEST(GraphRead, UnknownKeysAreToldWithTheNearest) {
  EXPECT_EQ(fault_with("\"outputs\":[\"h.0\",\"h.2\"", "\"output\":[\"h.0\",\"h.2\""),
            "\"f.json\": unknown key \"output\", expected one of format name values nodes "
            "outputs gradients n_forward_outputs; did you mean \"outputs\"?");
  EXPECT_EQ(fault_with("\"strides\":[4,1]", "\"stride\":[4,1]"),
            "\"f.json\": value \"w\": unknown key \"stride\", expected one of shape strides "
            "dtype kind path; did you mean \"strides\"?");
  EXPECT_EQ(fault_with("\"attributes\":{}", "\"attribute\":{}"),
            "\"f.json\": nodes[1]: unknown key \"attribute\", expected one of name op inputs "
            "attributes outputs role phase module layer recompute; did you mean \"attributes\"?");
  EXPECT_EQ(fault_with("\"role\":\"dtype_cast\"", "\"op\":\"dtype_cast\""),
            "\"f.json\": nodes[0]: key \"op\" is there twice");
}

TEST(GraphRead, WrongValuesAreRefused) {
  const auto value_fault = [](std::string_view from, std::string_view to) {
    const std::string text = fault_with(from, to);
    const std::string start = "\"f.json\": value \"w\": ";
    EXPECT_EQ(text.rfind(start, 0), 0u) << text;
    return text.substr(std::min(start.size(), text.size()));
  };
  EXPECT_EQ(value_fault("\"dtype\":\"f32\"", "\"dtype\":\"f33\"").rfind("unknown dtype \"f33\"", 0),
            0u);
  EXPECT_EQ(value_fault("\"dtype\":\"f32\"", "\"dtype\":32"), "\"dtype\" must be a string");
  EXPECT_EQ(value_fault("\"kind\":\"param\"", "\"kind\":\"parm\""),
            "unknown kind \"parm\", expected one of param buffer input tangent intermediate; did "
            "you mean \"param\"?");
  EXPECT_EQ(value_fault("\"shape\":[3,4]", "\"shape\":[-3,4]"), "shape [-3,4] has a negative size");
  EXPECT_EQ(value_fault("\"shape\":[3,4]", "\"shape\":[3.5,4]"),
            "\"shape\" must list whole numbers");
  EXPECT_EQ(value_fault("\"shape\":[3,4]", "\"shape\":3"), "\"shape\" must be a list");
  EXPECT_EQ(value_fault("\"shape\":[3,4]", "\"shape\":[3]"), "2 strides for 1 dims");
  EXPECT_EQ(value_fault("\"strides\":[4,1]", "\"strides\":[4,-1]"),
            "strides [4,-1] have a negative one");
  EXPECT_EQ(value_fault("\"shape\":[3,4]", "\"shape\":[4611686018427387904,4]"),
            "shape [4611686018427387904,4] has more than 2^62 elements");
  EXPECT_EQ(
      value_fault("\"strides\":[4,1]", "\"strides\":[4611686018427387904,1]"),
      "shape [3,4] with strides [4611686018427387904,1] reaches over more than 2^62 elements");
  EXPECT_EQ(
      value_fault("\"shape\":[3,4],\"strides\":[4,1]",
                  "\"shape\":[3,0],\"strides\":[4611686018427387904,1]"),
      "shape [3,0] with strides [4611686018427387904,1] reaches over more than 2^62 elements");
  EXPECT_EQ(fault_with("\"shape\":[3,4],\"strides\":[4,1]",
                       "\"shape\":[2147483648,1073741824],\"strides\":[1073741824,1]"),
            "\"f.json\": the values have more than 2^62 bytes");
}

TEST(GraphRead, WrongNodesAreRefused) {
  const auto node_fault = [](std::string_view from, std::string_view to) {
    const std::string text = fault_with(from, to);
    const std::string start = "\"f.json\": ";
    EXPECT_EQ(text.rfind(start, 0), 0u) << text;
    return text.substr(std::min(start.size(), text.size()));
  };
  EXPECT_EQ(node_fault("{\"name\":\"w16\",", "{"), "nodes[0]: \"name\" is missing");
  EXPECT_EQ(node_fault("\"op\":\"tiny.cast\",", ""), "node \"w16\" (): \"op\" is missing");
  EXPECT_EQ(node_fault("\"inputs\":{\"x\":\"w\"}", "\"inputs\":{\"x\":\"w17\"}"),
            "node \"w16\" (tiny.cast): input \"x\": no value \"w17\"; did you mean \"w16\"?");
  EXPECT_EQ(node_fault("\"inputs\":{\"x\":\"w\"}", "\"inputs\":{\"x\":1}"),
            "node \"w16\" (tiny.cast): input \"x\": expected the name of a value, or null");
  EXPECT_EQ(node_fault("[\"y\",null]", "[\"y\",\"q\"]"),
            "node \"h\" (tiny.halves): input \"parts\"[1]: no value \"q\"");
  EXPECT_EQ(node_fault("\"module\":\"\"", "\"module\":null"),
            "node \"g\" (tiny.times): \"module\" must be a string");
  EXPECT_EQ(node_fault("\"layer\":0", "\"layer\":-1"),
            "node \"w16\" (tiny.cast): \"layer\" must be a whole number from 0 on, not -1");
  EXPECT_EQ(node_fault("\"layer\":0", "\"layer\":\"0\""),
            "node \"w16\" (tiny.cast): \"layer\" must be a whole number from 0 on");
  EXPECT_EQ(node_fault("\"phase\":\"forward\"", "\"phase\":\"foward\""),
            "node \"w16\" (tiny.cast): unknown phase \"foward\", expected one of forward "
            "backward; did you mean \"forward\"?");
  EXPECT_EQ(node_fault("MUST_SAVE", "SAVE"),
            "node \"y\" (tiny.times): unknown recompute tag \"SAVE\", expected one of MUST_SAVE "
            "PREFER_SAVE MUST_RECOMPUTE PREFER_RECOMPUTE");
  EXPECT_EQ(node_fault("[1,2]}", "[1,{}]}"),
            "node \"y\" (tiny.times): attribute \"sizes\": item 1: an object that is no value; "
            "expected {\"dtype\": \"f32\"}");
  EXPECT_EQ(node_fault("\"attributes\":{},", "\"attributes\":{\"a\":9223372036854775808},"),
            "node \"wt\" (tiny.flip): attribute \"a\": the integer 9223372036854775808 does not "
            "fit 64 bits");
  EXPECT_EQ(node_fault("{\"w\":\"gw\"}", "{\"v\":\"gw\"}"), "gradients: no value \"v\"");
  EXPECT_EQ(node_fault("{\"w\":\"gw\"}", "{\"w\":7}"),
            "gradient of \"w\": expected the name of a value, or null");
}

// Small mutations of a good file: each is read to a graph that writes and reads back equal, or is
// refused in one line that names the file.
TEST(GraphRead, MutatedTextIsReadOrRefused) {
  std::mt19937_64 random(random_seed());
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::string text = mutate_text(small_graph_text(), random);
    const Result<Graph> graph = parse_graph(text, "f.json");
    if (!graph.ok()) {
      EXPECT_EQ(message_of(graph.status()).find('\n'), std::string_view::npos) << text;
      EXPECT_EQ(message_of(graph.status()).rfind("\"f.json\"", 0), 0u) << graph.status() << text;
      continue;
    }
    ++read;
    const Result<Graph> again = parse_graph(format_graph(*graph), "again.json");
    ASSERT_TRUE(again.ok()) << again.status() << '\n' << text;
    EXPECT_EQ(*again, *graph) << text;
  }
  EXPECT_GT(read, 40);
}

// The same with whole parts of the document: dropped, doubled, or one in place of another.
TEST(GraphRead, MutatedPartsAreReadOrRefused) {
  using Json = nlohmann::ordered_json;
  std::mt19937_64 random(random_seed());
  const Json good = Json::parse(small_graph_text());
  const Json flat = good.flatten();
  std::vector<std::string> places;
  for (const auto& item : flat.items()) places.push_back(item.key());
  int read = 0;
  for (int round = 0; round < 2000; ++round) {
    Json document = good;
    Json::json_pointer place(places[random() % places.size()]);
    while (random() % 3 == 0 && !place.empty()) place = place.parent_pointer();
    const Json other = flat[places[random() % places.size()]];
    document[place] = random() % 2 == 0 ? other : Json(static_cast<int64_t>(random() % 7) - 3);
    const Result<Graph> graph = parse_graph(document.dump(), "f.json");
    if (graph.ok()) ++read;
    if (!graph.ok()) {
      EXPECT_EQ(message_of(graph.status()).rfind("\"f.json\"", 0), 0u) << graph.status() << '\n'
                                                                       << document;
    }
  }
  EXPECT_GT(read, 20);
}

}  // namespace
}  // namespace onedim
