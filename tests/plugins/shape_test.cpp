#include <gtest/gtest.h>

#include "core/layout/reshape.hpp"
#include "core/validate/mesh_strategy.hpp"
#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

const LoadedPack& pack() {
  static const LoadedPack loaded("shape");
  return loaded;
}
using Elements = std::vector<std::vector<double>>;
std::string run(std::string_view op, std::string_view call, const Elements& elements) {
  return pack().run(op, call, elements);
}
bool has_rule(std::string_view op, std::string_view call, std::string_view rule) {
  return pack().has_rule(op, call, rule);
}

Subject subject_of(std::string_view op, std::string_view call) {
  const Op& found = *pack().registry().find(op);
  return *make_subject(found, *parse_call(found.schema, call));
}

// The layouts under these rules, one a mesh dim: `input -> output`, or the refusal.
std::string layouts(std::string_view op, std::string_view call, std::string_view mesh,
                    std::vector<std::string> rules, std::string order = "") {
  const Subject subject = subject_of(op, call);
  const Result<ParsedStrategy> parsed =
      parse_strategy({std::string(mesh), std::move(rules), std::move(order)});
  if (!parsed.ok()) return std::string(message_of(parsed.status()));
  const Result<MeshStrategy> made =
      make_strategy(subject, pack().registry(), parsed->mesh, parsed->rules, parsed->order);
  if (!made.ok()) return std::string(message_of(made.status()));
  return format_layout(made->inputs[0], parsed->mesh) + " -> " +
         format_layout(made->outputs[0], parsed->mesh);
}

const Elements kCount = {{0, 1, 2, 3, 4, 5}};

TEST(Shape, MovesElements) {
  EXPECT_EQ(run("view", "f32[2,3]; size=[3,-1]", kCount), "f32[3,2]: 0, 1, 2, 3, 4, 5");
  EXPECT_EQ(run("permute", "f32[2,3]; dims=[1,0]", kCount), "f32[3,2]: 0, 3, 1, 4, 2, 5");
  EXPECT_EQ(run("slice.Tensor", "f32[6]; start=-5; end=99; step=2", kCount), "f32[3]: 1, 3, 5");
  EXPECT_EQ(run("slice.Tensor", "f32[6]; start=4; end=2", kCount), "f32[0]: ");
  EXPECT_EQ(run("select.int", "f32[2,3]; dim=1; index=-1", kCount), "f32[2]: 2, 5");
  EXPECT_EQ(run("cat", "[f32[0]; i64[2]; f64[1]]", {{}, {1, 2}, {0.5}}), "f64[3]: 1, 2, 0.5");
  EXPECT_EQ(run("stack", "[f32[2]; f32[2]]; dim=-1", {{1, 2}, {3, 4}}), "f32[2,2]: 1, 3, 2, 4");
  EXPECT_EQ(run("flip", "f32[2,3]; dims=[0,-1]", kCount), "f32[2,3]: 5, 4, 3, 2, 1, 0");
  EXPECT_EQ(run("roll", "f32[2,3]; shifts=[1]", kCount), "f32[2,3]: 5, 0, 1, 2, 3, 4");
  EXPECT_EQ(run("roll", "f32[2,3]; shifts=[1,-1]; dims=[0,1]", kCount),
            "f32[2,3]: 4, 5, 3, 1, 2, 0");
  EXPECT_EQ(run("repeat", "f32[2]; repeats=[2,2]", {{1, 2}}), "f32[2,4]: 1, 2, 1, 2, 1, 2, 1, 2");
  EXPECT_EQ(run("constant_pad_nd", "i64[3]; pad=[-1,2]; value=7.9", {{1, 2, 3}}),
            "i64[4]: 2, 3, 7, 7");
  EXPECT_EQ(run("tril", "f32[2,3]; diagonal=1", kCount), "f32[2,3]: 0, 1, 0, 3, 4, 5");
  EXPECT_EQ(run("diagonal", "f32[2,3]; offset=1", kCount), "f32[2]: 1, 5");
  EXPECT_EQ(run("diag_embed", "f32[2]; offset=-1", {{1, 2}}),
            "f32[3,3]: 0, 0, 0, 1, 0, 0, 0, 2, 0");
  EXPECT_EQ(run("slice_scatter", "f32[6]; f32[2]; start=1; end=4; step=2", {kCount[0], {8, 9}}),
            "f32[6]: 0, 8, 2, 9, 4, 5");
  EXPECT_EQ(
      run("slice_backward", "f32[2]; input_sizes=[5]; dim=0; start=1; end=5; step=2", {{8, 9}}),
      "f32[5]: 0, 8, 0, 9, 0");
  EXPECT_EQ(run("select_backward", "f32[]; input_sizes=[3]; dim=0; index=-1", {{8}}),
            "f32[3]: 0, 0, 8");
  EXPECT_EQ(run("_conj", "c64[1]", {{1, 2}}), "c64[1]: 1, -2");
  EXPECT_EQ(run("view.dtype", "f32[1]; dtype=i32", {{1}}), "i32[1]: 1065353216");
  EXPECT_EQ(run("copy", "bool[2,2]; f32[2]", {{}, {0, 0.5}}), "bool[2,2]: 0, 1, 0, 1");
  EXPECT_EQ(run("squeeze_.dim", "f32[1,2]; dim=0", {{1, 2}}), "f32[2]: 1, 2");
}

TEST(Shape, RefusesWhatATenRefuses) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"view", "f32[6]; size=[4]"},
      {"view", "f32[6]; size=[-1,-1]"},
      {"view", "f32[0]; size=[0,-1]"},
      {"view", "f32[6]; size=[-2,3]"},
      {"expand", "f32[2]; size=[3]"},
      {"expand", "f32[2]; size=[-1,2]"},
      {"permute", "f32[2,3]; dims=[0]"},
      {"permute", "f32[2,3]; dims=[0,-2]"},
      {"unsqueeze", "f32[2]; dim=3"},
      {"slice.Tensor", "f32[2]; step=0"},
      {"slice.Tensor", "f32[]"},
      {"select.int", "f32[2]; dim=0; index=2"},
      {"split.Tensor", "f32[2]; split_size=0"},
      {"split.Tensor", "f32[100000]; split_size=1"},
      {"split_with_sizes", "f32[5]; split_sizes=[9223372036854775807,9223372036854775807,7]"},
      {"chunk", "f32[0]; chunks=9223372036854775807"},
      {"chunk", "f32[100000]; chunks=9223372036854775807"},
      {"unbind.int", "f32[100000]"},
      {"split_with_sizes", "f32[5]; split_sizes=[2,2]"},
      {"chunk", "f32[5]; chunks=0"},
      {"cat", "[f32[2,3]; f32[3,2]]"},
      {"cat", "[f32[]; f32[]]"},
      {"stack", "[f32[2]; f32[3]]"},
      {"repeat", "f32[2,3]; repeats=[2]"},
      {"roll", "f32[2,3]; shifts=[1,2]"},
      {"roll", "f32[2,3]; shifts=[1,2]; dims=[0]"},
      {"constant_pad_nd", "f32[2]; pad=[1]"},
      {"constant_pad_nd", "f32[2]; pad=[-2,-1]"},
      {"diagonal", "f32[2,2]; dim1=1"},
      {"diagonal_scatter", "f32[3,3]; f32[2]"},
      {"tril", "f32[3]"},
      {"slice_scatter", "f32[5]; f32[3]; end=2"},
      {"select_scatter", "f32[5]; f64[]; dim=0; index=0"},
      {"view_as_complex", "f32[3]"},
      {"view_as_real", "f32[3]"},
      {"view.dtype", "f32[3]; dtype=f64"},
      {"copy", "f32[2]; f32[3]"},
  };
  for (const auto& [op, call] : calls) {
    const std::string result = run(op, call, {});
    EXPECT_EQ(result.find("]:"), std::string::npos) << op << "(" << call << ") gave " << result;
    EXPECT_NE(result.find(op), std::string::npos) << "the op is not named: " << result;
  }
}

// Columns of a matrix in row-major memory: a view of [2,3] at strides [1,2].
Call transposed_call(const Op& op, std::string_view text) {
  Call call = parse_call(op.schema, text)->call;
  call.inputs[0]->strides = {1, 2};
  return call;
}

TEST(Shape, ViewsNeedStridesThatReshapeCopies) {
  const Op& view = *pack().registry().find("view");
  const auto refused = view.infer(transposed_call(view, "f32[2,3]; size=[6]"));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(message_of(refused.status()).find("use reshape"), std::string::npos);
  const auto split = view.infer(transposed_call(view, "f32[2,3]; size=[2,1,3]"));
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(split->at(0)->view_of_input, 0);
  EXPECT_EQ(split->at(0)->meta.strides[2], 2);
  const Op& reshape = *pack().registry().find("reshape");
  const auto copied = reshape.infer(transposed_call(reshape, "f32[2,3]; shape=[6]"));
  ASSERT_TRUE(copied.ok()) << copied.status();
  EXPECT_EQ(copied->at(0)->view_of_input, -1);
  const Op& contiguous = *pack().registry().find("contiguous");
  EXPECT_EQ((*contiguous.infer(transposed_call(contiguous, "f32[2,3]")))[0]->view_of_input, -1);
  EXPECT_EQ(subject_of("contiguous", "f32[2,3]").outputs[0]->view_of_input, 0);
}

TEST(Shape, PartOfADimIsAView) {
  const OutputMeta slice =
      *subject_of("slice.Tensor", "f32[4,6]; dim=1; start=1; step=2").outputs[0];
  EXPECT_EQ(slice.view_of_input, 0);
  EXPECT_EQ(slice.storage_offset, 1);
  EXPECT_EQ(slice.meta.strides, (Dims{6, 2}));
  const OutputMeta diagonal = *subject_of("diagonal", "f32[4,6]; offset=-1").outputs[0];
  EXPECT_EQ(diagonal.storage_offset, 6);
  EXPECT_EQ(diagonal.meta.strides, (Dims{7}));
  EXPECT_EQ(subject_of("unbind.int", "f32[4,6]").outputs[3]->storage_offset, 18);
}

// PyTorch's issues 179502 (a shard taken from columns to rows), 165600 (a flattened dim that is not
// the first), 143372 and 161147 (uneven lengths).
TEST(Shape, ShardsOfViews) {
  EXPECT_FALSE(has_rule("view", "f32[12,8]; size=[16,6]", "S(0) | S(1)"));
  EXPECT_TRUE(has_rule("view", "f32[12,8]; size=[16,6]", "S(0) | S(0)"));
  EXPECT_TRUE(has_rule("view", "f32[4,6,5]; size=[24,5]", "SS(0,4) | S(1)"));
  EXPECT_TRUE(has_rule("view", "f32[24,5]; size=[4,6,5]", "S(1) | SS(0,4)"));
  EXPECT_FALSE(has_rule("view", "f32[24,5]; size=[4,6,5]", "S(1) | SS(0,2)"));
  EXPECT_FALSE(has_rule("view", "f32[24,5]; size=[4,6,5]", "S(1) | S(0)"));
  EXPECT_TRUE(has_rule("view", "f32[3,4]; size=[6,2]", "SS(0,3) | S(1)"));
  EXPECT_FALSE(has_rule("view", "f32[3,4]; size=[4,3]", "SS(0,3) | S(1)"));
  EXPECT_EQ(layouts("view", "f32[8,256]; size=[-1]", "a=4", {"S(0) | S(0)"}), "S(0) -> S(0)");
  EXPECT_NE(layouts("view", "f32[6,256]; size=[-1]", "a=4", {"S(0) | S(0) even_only"})
                .find("does not divide"),
            std::string::npos);
  EXPECT_NE(
      layouts("view", "f32[10]; size=[2,5]", "a=4", {"S(0) | S(0) multiple_of(input 0, 0, 5)"})
          .find("multiples of 5"),
      std::string::npos);
}

// Pull request 186282: one tensor dim cut by two mesh dims, there and back.
TEST(Shape, FlattenAndUnflattenRoundTrip) {
  const std::string flatten = "SS(0,3) | S(1) even_only multiple_of(input 0, 0, 3)";
  const std::string unflatten = "S(1) | SS(0,3) even_only multiple_of(output 0, 0, 3)";
  EXPECT_EQ(layouts("view", "f32[3,8,5]; size=[24,5]", "cp=2,tp=2", {flatten, flatten}),
            "S(1),S(1) -> SS(0,3),SS(0,3)");
  EXPECT_EQ(layouts("view", "f32[24,5]; size=[3,8,5]", "cp=2,tp=2", {unflatten, unflatten}),
            "SS(0,3),SS(0,3) -> S(1),S(1)");
  // The batch is cut last, since its cut changes how many blocks the sequence is cut in.
  const std::string flatten4 = "SS(0,4) | S(1) even_only multiple_of(input 0, 0, 4)";
  EXPECT_EQ(layouts("view", "f32[4,8,5]; size=[32,5]", "dp=2,cp=2",
                    {"S(0) | S(0) even_only", flatten4}, "cp,dp"),
            "S(0),S(1) -> S(0)[cp,dp],SS(0,4)");
  EXPECT_NE(
      layouts("view", "f32[4,8,5]; size=[32,5]", "dp=2,cp=2", {"S(0) | S(0) even_only", flatten4})
          .find("multiples of 4"),
      std::string::npos);
}

// Every shard that the core's own view algebra gives for some number of ranks, and no other.
TEST(Shape, ShardsAreThoseOfTheIndexMaps) {
  const std::vector<std::pair<Dims, Dims>> pairs = {
      {{4, 6}, {24}},    {{24}, {4, 6}},       {{4, 6}, {6, 4}},       {{2, 3, 4}, {6, 4}},
      {{12, 2}, {3, 8}}, {{3, 4}, {4, 3}},     {{2, 2, 6}, {4, 2, 3}}, {{5, 7}, {35}},
      {{12}, {2, 2, 3}}, {{2, 6, 4}, {12, 4}}, {{3, 1, 4}, {1, 12}},   {{4, 3, 2}, {2, 12}}};
  int shards = 0;
  for (const auto& [from, to] : pairs) {
    const Subject subject =
        subject_of("view", "f64" + format_dims(from) + "; size=" + format_dims(to));
    const auto rules = closed_rules(*subject.op, subject.call, subject.outputs, pack().registry());
    ASSERT_TRUE(rules.ok()) << rules.status();
    for (int dim = 0; dim < static_cast<int>(from.size()); ++dim) {
      for (int64_t ranks = 2; from[dim] > 1 && ranks <= 6; ++ranks) {
        const Mesh mesh = Mesh::line(ranks);
        const Placement input = Placement::shard(dim);
        std::string ours = "none", theirs = "none";
        for (const ClosedRule& closed : *rules) {
          if (closed.rule.inputs[0] != input) continue;
          const auto made = make_strategy(subject, pack().registry(), mesh, {&closed.rule, 1}, {0});
          if (made.ok()) ours = format_placement(closed.rule.outputs[0]);
        }
        const Result<Layout> layout = reshaped_layout(from, Layout{{input}, {}}, to, mesh);
        if (layout.ok()) theirs = format_placement(layout->placements[0]);
        EXPECT_EQ(ours, theirs) << format_dims(from) << " as " << format_dims(to) << ", "
                                << format_placement(input) << " over " << ranks << " ranks";
        shards += layout.ok() ? 1 : 0;
      }
    }
  }
  EXPECT_GT(shards, 60);
}

TEST(Shape, RulesFollowTheCase) {
  EXPECT_TRUE(has_rule("expand", "f32[1,6]; size=[4,6]", "S(0) | R"));
  EXPECT_FALSE(has_rule("expand", "f32[4,6]; size=[4,6]", "S(0) | R"));
  EXPECT_TRUE(has_rule("slice.Tensor", "f32[8,3]; end=2", "P(sum) | S(0)"));
  EXPECT_FALSE(has_rule("slice.Tensor", "f32[8,3]; end=2", "S(0) | S(0)"));
  EXPECT_TRUE(has_rule("slice.Tensor", "f32[8,3]; end=8", "S(0) | S(0)"));
  EXPECT_TRUE(has_rule("slice.Tensor", "f32[8,3]; start=1; step=2", "S(0) | S(0)"));
  EXPECT_TRUE(has_rule("select.int", "bool[4,3]; dim=0; index=1", "P(max) | S(0)"));
  EXPECT_FALSE(has_rule("select.int", "i64[4,3]; dim=0; index=1", "P(max) | S(0)"));
  EXPECT_FALSE(has_rule("cat", "[f32[4,6]; f32[2,6]]", "P(sum) | P(sum), R"));
  EXPECT_TRUE(has_rule("cat", "[f32[4,6]; f32[2,6]]", "P(min) | R, P(min)"));
  EXPECT_TRUE(has_rule("cat", "[f32[4]; f32[0]]", "P(sum) | P(sum), P(max)"));
  EXPECT_TRUE(has_rule("cat", "[f32[4]; f32[2]]", "S(0) | R, R"));
  EXPECT_TRUE(has_rule("repeat", "f32[5]; repeats=[3]", "SS(0,3) | S(0)"));
  EXPECT_TRUE(has_rule("repeat", "f32[5]; repeats=[3,1]", "S(1) | S(0)"));
  EXPECT_TRUE(has_rule("constant_pad_nd", "f32[4]; pad=[1,0]", "P(sum) | P(sum)"));
  EXPECT_FALSE(has_rule("constant_pad_nd", "f32[4]; pad=[1,0]; value=2", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("constant_pad_nd", "i64[4]; pad=[1,0]; value=0.5", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("tril", "f32[4,6]", "S(1) | S(1)"));
  EXPECT_TRUE(has_rule("diagonal", "f32[4,6]", "S(0) | S(0)"));
  EXPECT_FALSE(has_rule("diagonal", "f32[6,4]", "S(0) | S(0)"));
  EXPECT_TRUE(has_rule("diag_embed", "f32[4]", "S(0) | S(0)"));
  EXPECT_FALSE(has_rule("diag_embed", "f32[4]; offset=1", "S(0) | S(0)"));
  EXPECT_TRUE(has_rule("_conj", "c64[4]", "P(product) | P(product)"));
  EXPECT_FALSE(has_rule("view_as_real", "c64[4]", "P(product) | P(product)"));
  EXPECT_FALSE(has_rule("view.dtype", "f64[4]; dtype=i64", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("view.dtype", "i64[4]; dtype=i64", "P(sum) | P(sum)"));
  EXPECT_FALSE(has_rule("copy", "i64[4]; f32[4]", "P(sum) | R, P(sum)"));
  EXPECT_TRUE(has_rule("copy", "i64[4]; f32[4]", "P(max) | P(sum), P(max)"));
}

}  // namespace
}  // namespace onedim
