#include "core/graph/autoparallel_solution.hpp"

#include "tests/graph/small_graph.hpp"

namespace onedim {
namespace {

constexpr std::string_view kText =
    R"-({"model":"small","note":"-","mesh":{"shape":[2,1],"dim_names":["a","b"]},)-"
    R"-("summary":{"total":9,"comm":3.5,"compute":2.25,"transition":1},"nodes":{)-"
    R"-("w":{"placement":"S(0)R","compute_us":0},"s":{"placement":"RR"},)-"
    R"-("x":{"placement":"P(sum)R","compute_us":0.0},"t":{"placement":"RR"},)-"
    R"-("w16":{"placement":"S(0)R","compute_us":7.5,)-"
    R"-("inputs":[{"from":"w","src":"S(0)R","dst":"S(0)R","comm_us":0}]},)-"
    R"-("wt":{"placement":"S(1)R","inputs":[{"from":"w16","src":"S(0)R","dst":"S(0)R"}]},)-"
    R"-("y":{"placement":"RR","inputs":[{"from":"x","src":"P(sum)R","dst":"RR","comm_us":3.5},)-"
    R"-({"from":"wt","src":"S(1)R","dst":"S(1)R"}]},)-"
    R"-("h":{"placement":"(RR, S(1)R)","inputs":[{"from":"y","src":"RR","dst":"RR"}]},)-"
    R"-("g":{"placement":"RR","inputs":[{"from":"t","src":"RR","dst":"RR"},)-"
    R"-({"from":"w16","src":"S(0)R","dst":"RR"}]},)-"
    R"-("gw":{"placement":"RR","inputs":[{"from":"g","src":"RR","dst":"RR"}]}}})-";

class ReadAutoParallelSolution : public testing::Test {
 protected:
  // The text with the first `from`, which must be there, replaced.
  static std::string with(std::string_view from, std::string_view to) {
    std::string text(kText);
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  }
  Result<AutoParallelSolution> read(const std::string& text) const {
    return parse_autoparallel_solution(text, "s.json", resolved_);
  }
  void expect_refused(std::string_view from, std::string_view to, std::string_view message) const {
    const Result<AutoParallelSolution> solution = read(with(from, to));
    ASSERT_FALSE(solution.ok()) << message;
    EXPECT_TRUE(absl::IsInvalidArgument(solution.status()));
    EXPECT_EQ(message_of(solution.status()), std::string("\"s.json\": ").append(message));
  }

  tiny::TinyPack pack_ = small_graph_pack();
  Registry registry_ = tiny::commit(pack_);
  Graph graph_ = small_graph();
  ResolvedGraph resolved_ = *resolve_graph(graph_, registry_);
};

TEST_F(ReadAutoParallelSolution, PutsEverythingInItsPlace) {
  const Result<AutoParallelSolution> solution = read(std::string(kText));
  ASSERT_TRUE(solution.ok()) << solution.status();
  const Mesh& mesh = solution->mesh;
  EXPECT_EQ(mesh.format(), "a=2,b=1");
  EXPECT_EQ(solution->communication_us, 3.5);
  EXPECT_EQ(solution->compute_us, 2.25);
  EXPECT_EQ(format_layout(solution->given[0], mesh), "S(0),R");
  EXPECT_EQ(format_layout(solution->given[2], mesh), "P(sum),R");
  EXPECT_TRUE(solution->given[4].placements.empty());
  const AutoParallelNode& y = solution->nodes[2];
  EXPECT_EQ(format_layout(y.inputs[0].from, mesh), "P(sum),R");
  EXPECT_EQ(format_layout(y.inputs[0].to, mesh), "R,R");
  EXPECT_EQ(y.inputs[0].us, 3.5);
  EXPECT_FALSE(y.inputs[1].us.has_value());
  EXPECT_EQ(solution->nodes[0].compute_us, 7.5);
  // Absent tensors have no layouts, and are not counted.
  const AutoParallelNode& h = solution->nodes[3];
  EXPECT_EQ(h.inputs.size(), 3u);
  EXPECT_TRUE(h.inputs[1].to.placements.empty());
  EXPECT_TRUE(h.outputs[1].placements.empty());
  EXPECT_EQ(format_layout(h.outputs[2], mesh), "S(1),R");
}

TEST_F(ReadAutoParallelSolution, SaysWhereAFileIsWrong) {
  expect_refused(R"("wt":{)", R"("w17":{)",
                 "the graph has no node and is given no value \"w17\"; did you mean \"w16\"?");
  expect_refused(R"("s":{"placement":"RR"},)", "", "\"s\" has no placement");
  expect_refused(R"(,"gw":{"placement":"RR","inputs":[{"from":"g","src":"RR","dst":"RR"}]})", "",
                 "node \"gw\" (tiny.cast) has no placement");
  expect_refused(R"("s":{)", R"("s":{"placement":"RR"},"s":{)", "\"s\" stands there twice");
  expect_refused(R"("compute_us":7.5)", R"("compute_u":7.5)",
                 "\"w16\": unknown key \"compute_u\", expected one of placement "
                 "compute_us inputs; did you mean \"compute_us\"?");
  expect_refused(R"("compute_us":7.5)", R"("compute_us":-1)",
                 "node \"w16\" (tiny.cast): \"compute_us\" must be a number of us from 0 on, "
                 "not -1");
  expect_refused(R"("dst":"S(0)R","comm_us":0)", R"("comm_us":0)",
                 "node \"w16\" (tiny.cast): inputs[0]: \"dst\" is missing");
  expect_refused(R"({"from":"t","src":"RR","dst":"RR"},)", "",
                 "node \"g\" (tiny.times): it has 1 inputs there, in the graph 2");
  expect_refused("\"(RR, S(1)R)\"", "\"RR\"",
                 "node \"h\" (tiny.halves): placement: \"RR\" has 1 layouts, the node 2 outputs");
  expect_refused(R"("shape":[2,1])", R"("shape":[2])", "mesh: 1 sizes have 2 names");
  expect_refused(R"("mesh":{"shape":[2,1],"dim_names":["a","b"]},)", "", "mesh: it is missing");
}

TEST_F(ReadAutoParallelSolution, LayoutsMustFitTheirTensors) {
  for (const std::string_view layout : {"S(2)R", "R", "RRR", "P(max)", "XR", "S(0)S", ""}) {
    const std::string text = fmt::format(R"("w":{{"placement":"{}")", layout);
    const Result<AutoParallelSolution> solution = read(with(R"("w":{"placement":"S(0)R")", text));
    ASSERT_FALSE(solution.ok()) << layout;
    EXPECT_TRUE(message_of(solution.status()).starts_with("\"s.json\": \"w\": placement: "))
        << solution.status();
  }
}

TEST_F(ReadAutoParallelSolution, EdgesBeginAtTheirSources) {
  expect_refused(R"({"from":"t","src")", R"({"from":"x","src")",
                 "node \"g\" (tiny.times): inputs[0]: it comes from \"x\", in the graph from "
                 "\"t\"");
  expect_refused(R"({"from":"w16","src":"S(0)R","dst":"RR"})",
                 R"({"from":"w16","src":"RR","dst":"RR"})",
                 "node \"g\" (tiny.times): inputs[1]: src is R,R, but \"w16\" lies as S(0),R");
}

// AutoParallel's names of the outputs of one node: each stands for one of them, everywhere.
TEST_F(ReadAutoParallelSolution, NamesOfOneOutputOfSeveral) {
  graph_.nodes[4].inputs[0].values = {7};
  graph_.nodes[4].inputs[1].values = {8};
  graph_.values[7].meta = graph_.values[8].meta = graph_.values[9].meta;
  resolved_.nodes[4].slots = {7, 8};
  const std::string head = R"("g":{"placement":"RR","inputs":[{"from":")";
  const std::string_view old = R"(t","src":"RR","dst":"RR"},{"from":"w16","src":"S(0)R",)";
  const auto read_with = [&](std::string_view first, std::string_view second) {
    return read(with(head + std::string(old),
                     fmt::format(R"({}{}","src":"RR","dst":"RR"}},{{"from":"{}","src":"S(1)R",)",
                                 head, first, second)))
        .status();
  };
  EXPECT_TRUE(read_with("getitem", "getitem_1").ok()) << read_with("getitem", "getitem_1");
  EXPECT_TRUE(read_with("h.0", "getitem").ok());
  EXPECT_EQ(message_of(read_with("getitem", "getitem")),
            "\"s.json\": node \"g\" (tiny.times): inputs[1]: it comes from \"getitem\", in the "
            "graph from \"h.2\"");
  EXPECT_FALSE(read_with("h", "getitem").ok());
}

TEST_F(ReadAutoParallelSolution, DamagedTextsAreRefused) {
  for (size_t length = 0; length < kText.size(); length += 7)
    EXPECT_FALSE(read(std::string(kText.substr(0, length))).ok()) << length;
  const Status status = read(R"({"format":"onedim.plan/1"})").status();
  EXPECT_EQ(message_of(status),
            "\"s.json\" is in format \"onedim.plan/1\"; expected \"autoparallel\"");
}

}  // namespace
}  // namespace onedim
