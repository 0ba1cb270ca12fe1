#include "core/exec/op_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/layout/partition.hpp"
#include "core/select/selector.hpp"
#include "tests/exec/moved.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

// A call of a shipped op with inputs that lie somewhere, ready to run.
struct Case {
  ShardedOp op;
  std::vector<std::optional<Tensor>> whole;
  std::vector<std::vector<Tensor>> locals;
};

// `layouts`, one a tensor, as `S(0),R`; ramps modulo 5 as values, which index sizes allow too.
Case make_case(std::string_view name, std::string_view text, std::string_view mesh_text,
               const std::vector<std::string>& layouts) {
  Planner planner(test_model(mesh_text));
  const Mesh& mesh = planner.mesh();
  const Op& op = *shipped_registry().find(name);
  Call call = parse_call(op.schema, text)->call;
  call.call_id = 1;
  std::vector<Layout> placed;
  for (size_t slot = 0; slot < call.inputs.size(); ++slot) {
    placed.push_back(
        *parse_layout(layouts[slot], mesh, static_cast<int>(call.inputs[slot]->shape.size())));
  }
  Case made{*make_sharded_op(op, shipped_registry(), call, mesh), {}, {}};
  Selector selector(shipped_registry(), planner);
  const SelectRequest request{&op, &call, placed, {}, {}};
  const auto decision = selector.select(request);
  EXPECT_TRUE(decision.ok()) << decision.status();
  made.op.inputs = (*decision)->inputs;
  made.op.output_layouts = (*decision)->outputs;
  made.op.plans = (*decision)->plans;
  for (const Rule& rule : (*decision)->rules) made.op.tags.push_back(rule.tag);
  for (size_t slot = 0; slot < call.inputs.size(); ++slot) {
    const TensorMeta& meta = *call.inputs[slot];
    Tensor values = Tensor::zeros(meta);
    for (int64_t i = 0; i < values.element_count(); ++i)
      store_complex(meta.dtype, values.element(i), static_cast<double>((i * 7 + 3) % 5));
    made.whole.emplace_back(values);
    made.locals.push_back(*split(values, placed[slot], mesh));
  }
  return made;
}

Result<OpRunReport> run(const Case& c, bool has_threads = false) {
  const Result<WholeResult> whole = run_whole(c.op, c.whole);
  if (!whole.ok()) return whole.status();
  SimOptions options;
  options.has_threads = has_threads;
  return run_sharded_op(c.op, *whole, c.locals, options);
}

void expect_bit_equal(const Case& c) {
  for (const bool has_threads : {false, true}) {
    const Result<OpRunReport> report = run(c, has_threads);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->is_equal) << report->difference;
    EXPECT_TRUE(report->is_bit_equal) << report->max_ulp;
  }
}

TEST(OpRun, PartialSumsAreSettled) {
  const Case c = make_case("mm", "f32[6,5]; f32[5,7]", "a=2,b=2", {"S(0),S(1)", "R,S(0)"});
  EXPECT_EQ(format_layout(c.op.output_layouts[0], c.op.mesh), "S(0),P(sum)");
  expect_bit_equal(c);
}

TEST(OpRun, InputsMoveFirst) {
  const Case c = make_case("mm", "f32[64,32]; f32[32,48]", "a=2,b=3", {"S(0),S(0)", "P(sum),S(1)"});
  ASSERT_TRUE(c.op.plans[0] != nullptr || c.op.plans[1] != nullptr);
  expect_bit_equal(c);
}

TEST(OpRun, UnevenAndEmptyShards) {
  expect_bit_equal(make_case("add.Tensor", "i64[5,3]; i64[5,3]", "a=4", {"S(0)", "S(1)"}));
  expect_bit_equal(make_case("sum.dim_IntList", "f64[5,3]; dim=[0]", "a=4", {"S(0)"}));
}

// Rows of the table lie on other ranks: only who knows its place can mask them.
TEST(OpRun, LocalCallsKnowWhereTheyAre) {
  const Case c = make_case("embedding", "f32[6,4]; i64[3,2]", "a=3", {"S(0)", "R"});
  EXPECT_EQ(format_layout(c.op.output_layouts[0], c.op.mesh), "P(sum)");
  expect_bit_equal(c);
}

TEST(OpRun, JointStatesAreMergedAndFinished) {
  const Case c = make_case("custom.logsumexp", "f64[3,8]; dim=1", "a=4", {"S(1)"});
  const Result<OpRunReport> report = run(c);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->is_equal) << report->difference;
  EXPECT_NE(format_layout(c.op.output_layouts[0], c.op.mesh), "S(1)");
}

// A strategy that no rule allows is seen, and the place is told.
TEST(OpRun, AFalseStrategyIsNotEqual) {
  Case c = make_case("mm", "f32[4,6]; f32[6,4]", "a=2", {"S(1)", "S(0)"});
  ASSERT_EQ(format_layout(c.op.output_layouts[0], c.op.mesh), "P(sum)");
  c.op.output_layouts[0] = Layout::replicated(1);
  const Result<OpRunReport> report = run(c);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(report->is_equal);
  EXPECT_GT(report->max_abs_error, 0);
  EXPECT_TRUE(report->difference.starts_with("output 0 on rank 0 at [0], at [0,0]: it is "))
      << report->difference;
}

// Outputs whose local shapes are not those of their layouts never run.
TEST(OpRun, AnImpossibleStrategyIsRefused) {
  Case c = make_case("mm", "f32[4,6]; f32[6,4]", "a=2", {"S(0)", "R"});
  c.op.output_layouts[0] = Layout::replicated(1);
  EXPECT_EQ(message_of(run(c).status()),
            "mm, the local call of rank 0 at [0]: the outputs that it infers are not those of the "
            "layouts");
}

// Every allocation has its cause, and what is released was allocated.
TEST(OpRun, MemoryIsLogged) {
  const Case c = make_case("mm", "f32[4,6]; f32[6,4]", "a=2", {"P(sum)", "S(1)"});
  const Result<OpRunReport> report = run(c);
  ASSERT_TRUE(report.ok()) << report.status();
  int64_t live = 0, peak = 0;
  bool is_comparison = false;  // outputs are gathered for it
  for (const MemoryEvent& event : report->memories[1].events()) {
    live += event.bytes;
    is_comparison |= event.cause.starts_with("mm, output");
    if (!is_comparison) peak = std::max(peak, live);
    EXPECT_EQ(event.live_bytes, live);
    EXPECT_GE(live, 0);
    EXPECT_FALSE(event.cause.empty());
  }
  EXPECT_EQ(report->memories[1].events()[0].cause, "given: input 0");
  EXPECT_TRUE(is_comparison);
  EXPECT_GE(report->peak_bytes, peak);
  EXPECT_LT(report->peak_bytes, 2 * peak);  // the other rank holds as much, or nearly
}

TEST(OpRun, TracesHaveATrackARank) {
  const Case c = make_case("mm", "f32[4,6]; f32[6,4]", "a=2,b=2", {"S(0),S(1)", "R,S(0)"});
  const Result<OpRunReport> report = run(c);
  ASSERT_TRUE(report.ok()) << report.status();
  std::vector<const RankMemory*> memories;
  for (const RankMemory& memory : report->memories) memories.push_back(&memory);
  const auto json = trace_to_json(c.op.mesh, report->traces, memories);
  std::map<int64_t, int> spans;
  for (const auto& event : json["traceEvents"]) {
    ASSERT_TRUE(event.contains("ph") && event.contains("pid") && event.contains("name"));
    if (event["ph"] != "X") continue;
    ++spans[event["pid"].get<int64_t>()];
    EXPECT_GE(event["dur"].get<double>(), 0);
    EXPECT_TRUE(event["args"].contains("predicted_us"));
    EXPECT_TRUE(event["args"].contains("bytes"));
    EXPECT_FALSE(event["args"]["cause"].get<std::string>().empty());
  }
  EXPECT_EQ(spans.size(), 4u);
}

// Random samples of shipped ops on a mesh of two dims, as selection places them, all replicated
// before.
TEST(OpRun, SamplesOfShippedOps) {
  int ran = 0;
  for (const char* name : {"relu", "softmax.int", "_softmax", "cat", "bmm", "addmm", "argmax",
                           "cumsum", "transpose.int", "where.self", "layer_norm", "mean.dim",
                           "index_select", "topk", "arange", "native_layer_norm", "amax"}) {
    const Op* op = shipped_registry().find(name);
    if (op == nullptr) continue;
    const Result<std::vector<std::string>> samples = op->samples();
    ASSERT_TRUE(samples.ok()) << samples.status();
    for (const std::string& sample : *samples) {
      const Result<CallText> text = parse_call(op->schema, sample);
      ASSERT_TRUE(text.ok());
      bool has_all = true;
      for (const OptionalMeta& meta : text->call.inputs) has_all &= meta.has_value();
      bool is_free = true;  // a ramp modulo 5 may not do for a domain
      for (const Domain& domain : text->domains) is_free &= domain.name.empty();
      if (!has_all || !is_free || text->call.inputs.empty()) continue;
      const Case c = make_case(name, sample, "a=2,b=2",
                               std::vector<std::string>(text->call.inputs.size(), "R,R"));
      const Result<OpRunReport> report = run(c);
      ASSERT_TRUE(report.ok()) << name << " " << sample << "\n" << report.status();
      EXPECT_TRUE(report->is_equal) << name << " " << sample << "\n" << report->difference;
      ++ran;
    }
  }
  EXPECT_GT(ran, 20);
}

}  // namespace
}  // namespace onedim
