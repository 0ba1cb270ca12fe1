#include "core/graph/graph_write.hpp"

#include <gtest/gtest.h>

#include "core/base/input_file.hpp"
#include "tests/graph/small_graph.hpp"

namespace onedim {
namespace {

TEST(GraphWrite, WritesWhatWasRead) { EXPECT_EQ(format_graph(small_graph()), small_graph_text()); }

TEST(GraphWrite, LeavesOutWhatMayBeLeftOut) {
  EXPECT_EQ(format_graph(Graph{}),
            R"({"format":"onedim.graph/1","name":"","values":{},"nodes":[],"outputs":[]})");
}

TEST(GraphWrite, KeepsNumbersApart) {
  Graph graph = small_graph();
  graph.nodes[1].attributes = {{"whole", Value{int64_t{1}}},
                               {"real", Value{1.0}},
                               {"tiny", Value{1e-12}},
                               {"third", Value{1.0 / 3}},
                               {"zero", Value{-0.0}},
                               {"flag", Value{true}},
                               {"none", Value{}},
                               {"word", Value{std::string("a \"b\"\n\u00e9")}},
                               {"dtype", Value{DType::kBF16}},
                               {"empty", Value{ValueList{}}}};
  const std::string text = format_graph(graph);
  EXPECT_NE(text.find(R"("whole":1,"real":1.0,"tiny":1e-12,"third":0.3333333333333333,)"
                      R"("zero":-0.0,"flag":true,"none":null,"word":"a \"b\"\n)"
                      "\u00e9"
                      R"(","dtype":{"dtype":"bf16"},"empty":[]})"),
            std::string::npos)
      << text;
  const Result<Graph> again = parse_graph(text, "again.json");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, graph);
}

TEST(GraphWrite, ExportedGraphsRoundTrip) {
  for (const char* name : {"bert-base-2layers", "opt-2layers", "llama3-8b-2layers"}) {
    const std::string path = fmt::format("{}/{}.json.gz", ONEDIM_TEST_DATA, name);
    const Result<Graph> graph = read_graph(path);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(graph->name, name);
    const std::string text = format_graph(*graph);
    const Result<Graph> again = parse_graph(text, "again.json");
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, *graph);
    EXPECT_EQ(format_graph(*again), text);
    EXPECT_EQ(text, *read_text_file(path));
  }
}

}  // namespace
}  // namespace onedim
