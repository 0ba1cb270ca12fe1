#include <gtest/gtest.h>

#include <limits>

#include "core/validate/strategy_judge.hpp"
#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const LoadedPack& pack() {
  static const LoadedPack loaded("nn");
  return loaded;
}
using Elements = std::vector<std::vector<double>>;
std::string run(std::string_view op, std::string_view call, const Elements& elements) {
  return pack().run(op, call, elements);
}
bool has_rule(std::string_view op, std::string_view call, std::string_view rule) {
  return pack().has_rule(op, call, rule);
}
void expect_refused(const std::string& op, std::string_view call, std::string_view reason) {
  const std::string result = run(op, call, {});
  EXPECT_NE(result.find(reason), std::string::npos) << op << "(" << call << ") gave " << result;
}

// What a strategy gives on a mesh: "holds", or why it is not offered or wrong.
std::string on_mesh(std::string_view name, std::string_view text, std::string mesh,
                    std::vector<std::string> rules, std::string order = "") {
  const Registry& registry = pack().registry();
  const Op* op = registry.find(name);
  Result<Subject> subject = make_subject(*op, *parse_call(op->schema, text));
  if (!subject.ok()) return std::string(message_of(subject.status()));
  Result<ParsedStrategy> parsed =
      parse_strategy({std::move(mesh), std::move(rules), std::move(order)});
  if (!parsed.ok()) return std::string(message_of(parsed.status()));
  Result<MeshStrategy> made =
      make_strategy(*subject, registry, parsed->mesh, parsed->rules, parsed->order);
  if (!made.ok()) return std::string(message_of(made.status()));
  Place place = strategy_place(*subject, 1);
  const std::vector<int> draws = {0, 1, 2, 3, 4, 5, 6, 7};
  StrategyVerdict verdict = judge_strategy(place, parsed->mesh, *made, draws, registry);
  return verdict.word == StrategyVerdict::Word::kHolds ? "holds" : verdict.reason;
}

TEST(Nn, SoftmaxOfOneDim) {
  EXPECT_EQ(run("_softmax", "f64[2,2]; dim=-1; half_to_float=false", {{0, 0, 5, 5}}),
            "f64[2,2]: 0.5, 0.5, 0.5, 0.5");
  EXPECT_EQ(run("_softmax", "f16[2]; dim=0; half_to_float=true", {{0, 0}}), "f32[2]: 0.5, 0.5");
  EXPECT_EQ(run("_log_softmax", "f64[1]; dim=0; half_to_float=false", {{3}}), "f64[1]: 0");
  EXPECT_EQ(run("_safe_softmax", "f64[2,2]; dim=1", {{-kInfinity, -kInfinity, 1, 1}}),
            "f64[2,2]: 0, 0, 0.5, 0.5");
  EXPECT_EQ(
      run("_softmax_backward_data", "f64[2]; f64[2]; dim=0; input_dtype=f64", {{1, 3}, {0.5, 0.5}}),
      "f64[2]: -0.5, 0.5");
  expect_refused("_softmax", "f32[2,2]; dim=2; half_to_float=false", "dim 2 is out of range");
  expect_refused("_softmax", "f32[2,2]; dim=0; half_to_float=true", "f16 only");
}

TEST(Nn, SoftmaxOfShardedVectorsIsAJointPartial) {
  const std::string call = "f64[4,7]; dim=1; half_to_float=false";
  for (const std::string op : {"softmax", "log_softmax"}) {
    const std::string rule = "P(nn." + op + "#0) | S(1)";
    EXPECT_TRUE(has_rule("_" + op, call, rule));
    EXPECT_FALSE(has_rule("_" + op, call, "P(nn." + op + "#0) | S(0)"));
    EXPECT_FALSE(has_rule("_" + op, "f64[4,1]; dim=1; half_to_float=false", rule));
    EXPECT_EQ(on_mesh("_" + op, call, "a=2,b=3", {rule, rule}, "b,a"), "holds");
    EXPECT_EQ(on_mesh("_" + op, call, "a=2,b=2,c=2", {rule, "S(0) | S(0)", rule}), "holds");
  }
  EXPECT_EQ(on_mesh("_safe_softmax", "f32[3]; dim=0", "a=2,b=2",
                    {"R | R", "P(nn.safe_softmax#0) | S(0)"}),
            "holds");
}

TEST(Nn, SoftmaxGradientsOfShardedVectors) {
  const std::string call = "f64[4,7]; f64[4,7]; dim=1; input_dtype=f64";
  const std::string both = "P(nn.log_softmax_gradient#0) | S(1), S(1)";
  const std::string op = "_log_softmax_backward_data";
  EXPECT_TRUE(has_rule("_softmax_backward_data", call, "P(sum) | S(1), R"));
  EXPECT_FALSE(has_rule("_softmax_backward_data", call, "S(1) | R, S(1)"));
  EXPECT_FALSE(has_rule("_softmax_backward_data", call, "P(sum) | S(1), S(1)"));
  EXPECT_EQ(on_mesh("_softmax_backward_data", call, "a=2,b=3",
                    {"P(nn.softmax_gradient#0) | S(1), S(1)", "S(0) | S(0), S(0)"}),
            "holds");
  EXPECT_EQ(on_mesh(op, call, "a=2,b=3", {"P(sum) | S(1), R", "S(1) | R, S(1)"}), "holds");
  EXPECT_EQ(on_mesh(op, call, "a=2,b=2", {both, both}, "b,a"), "holds");
}

// The result's columns are those of y over b; ranks over a merge theirs where b cuts y first.
TEST(Nn, GradientsOfShardedVectorsComposeWhereTheirColumnsMeet) {
  const std::string both = "P(nn.log_softmax_gradient#0) | S(1), S(1)", one = "S(1) | R, S(1)";
  const std::string op = "_log_softmax_backward_data";
  for (const std::string call :
       {"f64[4,8]; f64[4,8]; dim=1; input_dtype=f64", "f64[3,7]; f64[3,7]; dim=1; input_dtype=f64",
        "f64[5,2]; f64[5,2]; dim=0; input_dtype=f64"}) {
    const bool is_first = call.find("dim=0") != std::string::npos;
    const auto along = [&](std::string rule) {
      for (char& c : rule) c = is_first && c == '1' ? '0' : c;
      return rule;
    };
    const std::vector<std::string> rules = {along(both), along(one)};
    EXPECT_EQ(on_mesh(op, call, "a=2,b=3", rules, "b,a"), "holds") << call;
    EXPECT_EQ(on_mesh(op, call, "a=2,b=2,c=2", {rules[0], rules[1], rules[0]}, "b,c,a"), "holds");
    for (const auto& [mesh, order] : {std::pair("a=2,b=3", ""), std::pair("a=4,b=2", "a,b")}) {
      EXPECT_NE(on_mesh(op, call, mesh, rules, order).find("not cut alike"), std::string::npos)
          << call << mesh;
    }
  }
}

TEST(Nn, NormsOfWholeSets) {
  EXPECT_EQ(run("native_layer_norm", "f64[1,2]; f64[2]; f64[2]; normalized_shape=[2]; eps=0",
                {{1, 3}, {2, 2}, {0, 1}}),
            "f64[1,2]: -2, 3");
  EXPECT_EQ(run("_fused_rms_norm", "f64[1,2]; -; normalized_shape=[2]; eps=0", {{3, 3}}),
            "f64[1,2]: 1, 1");
  EXPECT_EQ(
      run("native_group_norm", "f64[1,4]; -; -; N=1; C=4; HxW=1; group=2; eps=0", {{1, 3, 10, 30}}),
      "f64[1,4]: -1, 1, -1, 1");
  EXPECT_EQ(run("native_batch_norm",
                "f64[2,1]; -; -; f64[1]; f64[1]; training=false; momentum=0.1; eps=0",
                {{1, 3}, {1}, {4}}),
            "f64[2,1]: 0, 1");
  expect_refused("native_layer_norm", "f32[4,6]; -; -; normalized_shape=[5]; eps=0",
                 "expected the last dims of the input's shape");
  expect_refused("native_layer_norm", "f32[4,6]; f64[6]; -; normalized_shape=[6]; eps=0",
                 "expected one dtype");
  expect_refused("native_group_norm", "f32[2,4]; -; -; N=2; C=4; HxW=1; group=3; eps=0",
                 "a multiple of the groups");
  expect_refused("native_batch_norm", "f32[4,6]; -; -; -; -; training=false; momentum=0.1; eps=0",
                 "needed in evaluation");
}

TEST(Nn, BatchNormWritesItsRunningStatistics) {
  const std::string call = "f64[2,1]; -; -; f64[1]; f64[1]; training=true; momentum=0.5; eps=0";
  const Registry& registry = pack().registry();
  const Op& op = *registry.find("_native_batch_norm_legit");
  Result<CallText> text = parse_call(op.schema, call);
  ASSERT_TRUE(text.ok()) << text.status();
  std::vector<Tensor> tensors;
  const Elements values = {{1, 3}, {10}, {20}};
  for (const OptionalMeta& meta : text->call.inputs) {
    if (!meta) continue;
    Tensor& tensor = tensors.emplace_back(Tensor::zeros(*meta));
    const std::vector<double>& own = values[tensors.size() - 1];
    std::copy(own.begin(), own.end(), reinterpret_cast<double*>(tensor.data()));
  }
  Tensor* inputs[] = {&tensors[0], nullptr, nullptr, &tensors[1], &tensors[2]};
  ASSERT_TRUE(run_op(op, text->call, inputs).ok());
  EXPECT_EQ(*reinterpret_cast<const double*>(tensors[1].data()), 0.5 * 10 + 0.5 * 2);
  EXPECT_EQ(*reinterpret_cast<const double*>(tensors[2].data()), 0.5 * 20 + 0.5 * 2);
}

TEST(Nn, GradientsFollowTheirMasks) {
  const std::string shapes =
      "f64[4,3]; f64[4,3]; f64[4,1]; f64[4,1]; f64[3]; f64[3]; normalized_shape=[3]; output_mask=";
  EXPECT_TRUE(has_rule("native_layer_norm_backward", shapes + "[true,true,true]",
                       "S(0), P(sum), P(sum) | S(0), S(0), S(0), S(0), R, R"));
  EXPECT_TRUE(has_rule("native_layer_norm_backward", shapes + "[true,false,false]",
                       "S(0), -, - | S(0), S(0), S(0), S(0), R, P(sum)"));
  EXPECT_TRUE(has_rule("native_layer_norm_backward", shapes + "[false,true,true]",
                       "-, P(sum), P(sum) | S(0), S(0), S(0), S(0), P(max), R"));
  EXPECT_TRUE(has_rule("native_layer_norm_backward", shapes + "[false,true,true]",
                       "-, S(0), S(0) | S(1), S(1), R, R, S(0), S(0)"));
  EXPECT_FALSE(has_rule("native_layer_norm_backward", shapes + "[true,true,true]",
                        "S(1), S(0), S(0) | S(1), S(1), R, R, S(0), S(0)"));
  expect_refused("native_layer_norm_backward",
                 "f64[2,3]; f64[2,3]; f64[2,1]; f64[2,1]; -; -; normalized_shape=[3]; "
                 "output_mask=[true]",
                 "output_mask has 1 flags, expected 3");
}

TEST(Nn, NormRulesFollowTheCase) {
  const std::string norm = "f64[4,6]; f64[6]; f64[6]; normalized_shape=[6]; eps=0.1";
  EXPECT_TRUE(has_rule("native_layer_norm", norm, "S(0), S(0), S(0) | S(0), R, R"));
  EXPECT_TRUE(has_rule("native_layer_norm", norm, "P(sum), R, R | R, P(sum), P(sum)"));
  EXPECT_FALSE(has_rule("native_layer_norm", norm, "P(sum), R, R | R, P(sum), R"));
  EXPECT_TRUE(has_rule("native_layer_norm", norm, "P(max), R, R | R, R, P(max)"));
  EXPECT_FALSE(has_rule("native_layer_norm", norm, "S(1), R, R | S(1), S(0), S(0)"));
  const std::string one_group_a_channel =
      "f64[2,4,3]; f64[4]; -; N=2; C=4; HxW=3; group=4; eps=0.1";
  EXPECT_TRUE(
      has_rule("native_group_norm", one_group_a_channel, "S(1), S(1), S(1) | S(1), S(0), -"));
  const std::string one_group = "f64[2,4,3]; f64[4]; -; N=2; C=4; HxW=3; group=1; eps=0.1";
  EXPECT_FALSE(has_rule("native_group_norm", one_group, "S(1), S(1), S(1) | S(1), S(0), -"));
  const std::string training = "f64[4,3]; -; -; -; -; training=true; momentum=0.1; eps=0.1";
  EXPECT_TRUE(has_rule("native_batch_norm", training, "S(1), S(0), S(0) | S(1), -, -, -, -"));
  EXPECT_FALSE(has_rule("native_batch_norm", training, "S(0), R, R | S(0), -, -, -, -"));
  const std::string evaluation =
      "f64[4,3]; -; -; f64[3]; f64[3]:positive; training=false; momentum=0.1; eps=0.1";
  EXPECT_TRUE(has_rule("native_batch_norm", evaluation, "S(0), R, R | S(0), -, -, R, R"));
  EXPECT_TRUE(has_rule("native_batch_norm", evaluation, "P(min), R, R | R, -, -, P(max), R"));
}

// Columns of the result that weight and bias have, of a whole input or of cut rows.
TEST(Nn, LayerNormOfCutParametersGivesTheirColumns) {
  const std::string joint = "P(nn.layer_norm#0), P(nn.layer_norm#1), P(nn.layer_norm#2) | S(1), ";
  const std::string columns = "S(1), R, R | R, ";
  for (const std::string size : {"8", "7", "2"}) {
    const std::string norm = "f64[3," + size + "]; f64[" + size + "]; f64[" + size +
                             "]; normalized_shape=[" + size + "]; eps=0.1";
    EXPECT_TRUE(has_rule("native_layer_norm", norm, columns + "S(0), S(0)"));
    EXPECT_TRUE(has_rule("native_layer_norm", norm, columns + "R, S(0)"));
    EXPECT_FALSE(has_rule("native_layer_norm", norm, columns + "R, R"));
    const auto holds = [&](std::vector<std::string> rules, const std::string& order) {
      return on_mesh("native_layer_norm", norm, "a=2,b=3", std::move(rules), order);
    };
    EXPECT_EQ(holds({joint + "R, R", columns + "S(0), S(0)"}, ""), "holds") << size;
    EXPECT_EQ(holds({joint + "R, R", columns + "R, S(0)"}, "b,a"), "holds") << size;
    EXPECT_EQ(holds({joint + "S(0), R", columns + "S(0), S(0)"}, "b,a"), "holds") << size;
    EXPECT_NE(holds({joint + "S(0), R", columns + "S(0), S(0)"}, ""), "holds") << size;
    EXPECT_EQ(holds({columns + "S(0), R", columns + "S(0), S(0)"}, "b,a"), "holds") << size;
    EXPECT_NE(holds({columns + "S(0), R", columns + "S(0), S(0)"}, ""), "holds") << size;
  }
  const std::string rms = "f32[4,5]; f32[5]; normalized_shape=[5]; eps=null";
  EXPECT_TRUE(has_rule("_fused_rms_norm", rms, "S(1), R | R, S(0)"));
  EXPECT_EQ(on_mesh("_fused_rms_norm", rms, "a=2,b=2",
                    {"S(1), R | R, S(0)", "P(nn.rms_norm#0), P(nn.rms_norm#1) | S(1), R"}),
            "holds");
}

TEST(Nn, GroupNormOfCutGroupsIsAJointPartial) {
  const std::string joint = "P(nn.group_norm#0), P(nn.group_norm#1), P(nn.group_norm#2) | ";
  const std::string whole = "S(1), S(1), S(1) | S(1), ", op = "native_group_norm";
  const std::string call = "f64[2,12,3]; f64[12]; f64[12]; N=2; C=12; HxW=3; group=6; eps=0.1";
  EXPECT_TRUE(has_rule(op, call, joint + "S(1), S(0), S(0)"));
  EXPECT_TRUE(has_rule(op, call, joint + "S(1), R, S(0)"));
  EXPECT_TRUE(has_rule(op, call, joint + "S(2), R, R"));
  EXPECT_FALSE(has_rule(op, call, joint + "S(0), R, R"));
  EXPECT_FALSE(
      has_rule(op, "f64[2,4,3]; -; -; N=2; C=4; HxW=3; group=4; eps=0.1", joint + "S(1), -, -"));
  EXPECT_EQ(on_mesh(op, call, "a=2,b=3", {joint + "S(1), R, S(0)", joint + "S(2), R, R"}), "holds");
  EXPECT_EQ(on_mesh(op, call, "a=5", {joint + "S(1), S(0), S(0)"}), "holds");  // groups are cut
  EXPECT_EQ(on_mesh(op, call, "a=3,b=4", {whole + "S(0), R", joint + "S(1), S(0), R"}), "holds");
  EXPECT_NE(on_mesh(op, call, "a=3,b=2", {whole + "S(0), R", joint + "S(1), S(0), R"}, "b,a"),
            "holds");
  EXPECT_EQ(
      on_mesh(op, "bf16[3,9]; f32[9]; -; N=3; C=9; HxW=1; group=3; eps=0.1", "a=2,b=2,c=2",
              {joint + "S(1), S(0), -", "S(0), S(0), S(0) | S(0), R, -", joint + "S(1), R, -"}),
      "holds");
}

TEST(Nn, NormGradientsOfCutSetsAreJointPartials) {
  const std::string rows = "P(nn.layer_norm_gradient#0), S(0), S(0) | S(1), S(1), R, R, ";
  const std::string layer =
      "f64[4,7]; f64[4,7]; f64[4,1]; f64[4,1]; f64[7]; f64[7]; normalized_shape=[7]; output_mask=";
  const std::string all = layer + "[true,true,true]", op = "native_layer_norm_backward";
  EXPECT_TRUE(has_rule(op, all, rows + "S(0), S(0)"));
  EXPECT_TRUE(has_rule(op, all, rows + "R, P(sum)"));
  EXPECT_FALSE(has_rule(op, all, rows + "P(sum), R"));
  EXPECT_TRUE(has_rule(op, layer + "[false,true,false]", "-, S(0), - | S(1), S(1), R, R, R, R"));
  EXPECT_EQ(on_mesh(op, all, "a=2,b=2,c=2",
                    {rows + "R, S(0)", "S(0), P(sum), P(sum) | S(0), S(0), S(0), S(0), R, R",
                     rows + "R, R"}),
            "holds");
  EXPECT_EQ(on_mesh(op, all, "a=2,b=3", {rows + "R, R", rows + "S(0), R"}, "b,a"), "holds");
  EXPECT_NE(on_mesh(op, all, "a=2,b=3", {rows + "R, R", rows + "S(0), R"}), "holds");
  EXPECT_EQ(on_mesh("_fused_rms_norm_backward",
                    "bf16[3,5]; bf16[3,5]; f32[3,1]; bf16[5]; normalized_shape=[5]; "
                    "output_mask=[true,true]",
                    "a=2,b=2",
                    {"P(nn.rms_norm_gradient#0), S(0) | S(1), S(1), R, S(0)",
                     "S(0), P(sum) | S(0), S(0), S(0), R"}),
            "holds");
  const std::string batch = "P(nn.batch_norm_gradient#0), P(sum), P(sum) | ";
  const std::string training =
      "f32[5,3,2]; f32[5,3,2]; f32[3]; -; -; f32[3]; f32[3]; train=true; eps=0.1; "
      "output_mask=[true,true,true]";
  EXPECT_EQ(on_mesh("native_batch_norm_backward", training, "a=2,b=2,c=2",
                    {batch + "S(0), S(0), R, -, -, R, R",
                     "S(1), S(0), S(0) | S(1), S(1), S(0), -, -, S(0), S(0)",
                     batch + "S(2), S(2), R, -, -, R, R"}),
            "holds");
  EXPECT_FALSE(has_rule("native_batch_norm_backward", training,
                        "S(0), P(sum), P(sum) | S(0), S(0), R, -, -, R, R"));
}

TEST(Nn, GroupNormGradientOfCutGroupsIsAJointPartial) {
  const std::string op = "native_group_norm_backward";
  const std::string joint = "P(nn.group_norm_gradient#0), ";
  const std::string whole = "S(1), S(0), S(0) | S(1), S(1), S(1), S(1), ";
  const std::string call =
      "f64[2,12,3]; f64[2,12,3]; f64[2,6]; f64[2,6]; f64[12]; N=2; C=12; HxW=3; group=6; "
      "output_mask=";
  const std::string all = call + "[true,true,true]", parameters = call + "[false,true,true]";
  EXPECT_TRUE(has_rule(op, all, whole + "R"));
  EXPECT_FALSE(has_rule(op, all, joint + "S(0), S(0) | S(1), S(1), S(1), S(1), S(0)"));
  EXPECT_TRUE(has_rule(op, parameters, "-, S(0), S(0) | S(1), S(1), R, R, P(max)"));
  EXPECT_EQ(on_mesh(op, all, "a=5", {joint + "S(0), S(0) | S(1), S(1), R, R, R"}), "holds");
  EXPECT_EQ(on_mesh(op, all, "a=2,b=2,c=2",
                    {whole + "S(0)", joint + "S(0), S(0) | S(1), S(1), R, R, S(0)",
                     joint + "P(sum), P(sum) | S(2), S(2), R, R, R"}),
            "holds");
  EXPECT_NE(on_mesh(op, all, "a=3,b=2",
                    {whole + "S(0)", joint + "S(0), S(0) | S(1), S(1), R, R, S(0)"}, "b,a"),
            "holds");
  expect_refused(op,
                 "f64[2,4]; f64[2,4]; f64[2,2]; f64[2,1]; -; N=2; C=4; HxW=1; group=2; "
                 "output_mask=[true,true,true]",
                 "rstd has shape [2,1], expected [2,2]");
}

TEST(Nn, NormsOfShardedSetsAreJointPartials) {
  const std::string layer = "P(nn.layer_norm#0), P(nn.layer_norm#1), P(nn.layer_norm#2) | ";
  const std::string norm = "f64[4,7]; f64[7]; f64[7]; normalized_shape=[7]; eps=0.1";
  EXPECT_TRUE(has_rule("native_layer_norm", norm, layer + "S(1), S(0), S(0)"));
  EXPECT_TRUE(has_rule("native_layer_norm", norm, layer + "S(1), S(0), R"));
  EXPECT_FALSE(has_rule("native_layer_norm", norm, layer + "S(0), R, R"));
  const std::string mixed[] = {layer + "S(1), S(0), R", layer + "S(1), R, S(0)"};
  EXPECT_EQ(on_mesh("native_layer_norm", norm, "a=2,b=2", {mixed[0], mixed[1]}, "b,a"), "holds");
  EXPECT_EQ(on_mesh("native_layer_norm", norm, "a=2,b=2,c=2",
                    {mixed[0], "S(0), S(0), S(0) | S(0), R, R", mixed[1]}),
            "holds");
  EXPECT_EQ(on_mesh("native_layer_norm", "f32[2,3,5]; f32[3,5]; -; normalized_shape=[3,5]; eps=0.1",
                    "a=2,b=3", {layer + "S(1), S(0), -", layer + "S(2), R, -"}),
            "holds");
  const std::string rms = "P(nn.rms_norm#0), P(nn.rms_norm#1) | S(1), ";
  EXPECT_EQ(on_mesh("_fused_rms_norm", "f32[4,5]; f32[5]; normalized_shape=[5]; eps=null",
                    "a=2,b=2", {rms + "R", rms + "S(0)"}),
            "holds");
  const std::string batch = "P(nn.batch_norm#0), P(nn.batch_norm#1), P(nn.batch_norm#2) | ";
  const std::string training = "f64[5,3,2]; f64[3]; -; -; -; training=true; momentum=0.1; eps=0.1";
  EXPECT_EQ(on_mesh("native_batch_norm", training, "a=2,b=2,c=2",
                    {batch + "S(0), R, -, -, -", "S(1), S(0), S(0) | S(1), S(0), -, -, -",
                     batch + "S(2), R, -, -, -"}),
            "holds");
  EXPECT_EQ(on_mesh("native_batch_norm", training, "a=4", {batch + "S(0), R, -, -, -"}), "holds");
}

TEST(Nn, NllLoss) {
  const Elements elements = {{1, 2, 3, 4}, {0, 1}, {1, 3}};
  const std::string call = "f64[2,2]; i64[2]; f64[2]; ignore_index=-100; reduction=";
  EXPECT_EQ(run("nll_loss_forward", call + "0", elements), "f64[2]: -1, -12");
  EXPECT_EQ(run("nll_loss_forward", call + "1", elements), "f64[]: -3.25");
  EXPECT_EQ(run("nll_loss_forward", call + "2", elements), "f64[]: -13");
  EXPECT_EQ(run("nll_loss_forward", "f64[2,2]; i64[2]; -; ignore_index=1; reduction=1", elements),
            "f64[]: -1");
  expect_refused("nll_loss_forward", "f64[2,2]; i64[3]; -; ignore_index=-1; reduction=1",
                 "target has shape [3], expected [2]");
  expect_refused("nll_loss_forward", "f64[2,2]; i64[2]; -; ignore_index=-1; reduction=3",
                 "reduction must be 0 (none), 1 (mean) or 2 (sum)");
  EXPECT_NE(
      run("nll_loss_forward", "f64[1,2]; i64[1]; -; ignore_index=-1; reduction=1", {{1, 2}, {2}})
          .find("target 2 is out of bounds"),
      std::string::npos);
}

TEST(Nn, NllLossOfMeansIsAJointPartial) {
  const std::string call = "f64[4,3]; i64[4]:index(3); f64[3]; ignore_index=-100; reduction=";
  EXPECT_TRUE(has_rule("nll_loss_forward", call + "1",
                       "P(nn.weighted_mean#0), P(nn.weighted_mean#1) | S(0), S(0), R"));
  EXPECT_TRUE(has_rule("nll_loss_forward", call + "1", "P(sum), R | S(1), R, R"));
  EXPECT_TRUE(has_rule("nll_loss_forward", call + "1",
                       "P(nn.weighted_mean#0), P(nn.weighted_mean#1) | S(1), R, R"));
  EXPECT_FALSE(has_rule("nll_loss_forward", call + "2",
                        "P(nn.weighted_mean#0), P(nn.weighted_mean#1) | S(1), R, R"));
  EXPECT_FALSE(has_rule("nll_loss_forward", call + "1", "P(avg), P(sum) | S(0), S(0), R"));
  EXPECT_FALSE(has_rule("nll_loss_forward", call + "1", "P(sum), P(sum) | S(0), S(0), R"));
  EXPECT_TRUE(has_rule("nll_loss_forward", call + "2", "P(sum), P(sum) | S(0), S(0), R"));
  EXPECT_TRUE(has_rule("nll_loss_forward", call + "0", "S(0), R | S(0), S(0), R"));
  EXPECT_TRUE(has_rule("nll_loss_backward",
                       "f64[]; f64[4,3]; i64[4]:index(3); -; f64[]; reduction=1; ignore_index=-1",
                       "S(1) | R, S(1), R, -, R"));
}

// Ignored rows, weights, and ranks without a row or a class.
TEST(Nn, CutsOfBatchAndClassesCompose) {
  const std::string rows = "P(nn.weighted_mean#0), P(nn.weighted_mean#1) | S(0), S(0), ";
  const std::string classes = "P(nn.weighted_mean#0), P(nn.weighted_mean#1) | S(1), R, ";
  const std::string weighted =
      "f64[5,7]; i64[5]:values(0,1,6,-100); f64[7]:positive; reduction=1; ignore_index=-100";
  const std::string plain = "f64[3,5]; i64[3]:values(0,3,4); -; reduction=1; ignore_index=4";
  EXPECT_EQ(on_mesh("nll_loss_forward", plain, "a=2,b=3", {rows + "-", classes + "-"}), "holds");
  EXPECT_EQ(on_mesh("nll_loss_forward", plain, "a=2,b=2", {classes + "-", classes + "-"}, "b,a"),
            "holds");
  EXPECT_EQ(on_mesh("nll_loss_forward", weighted, "a=2,b=4", {rows + "R", classes + "R"}), "holds");
  EXPECT_EQ(on_mesh("nll_loss_forward", weighted, "a=2,b=2,c=2",
                    {rows + "R", classes + "S(0)", classes + "S(0)"}),
            "holds");
  EXPECT_EQ(on_mesh("nll_loss2d_forward",
                    "f64[2,5,3,2]; i64[2,3,2]:values(0,4,-100); f64[5]:positive; reduction=1; "
                    "ignore_index=-100",
                    "a=2,b=2,c=2",
                    {rows + "R", classes + "R",
                     "P(nn.weighted_mean#0), P(nn.weighted_mean#1) | S(2), S(1), R"}),
            "holds");
  EXPECT_NE(on_mesh("nll_loss_forward", plain, "a=2,b=2", {rows + "-", "P(sum), R | S(1), R, -"}),
            "holds");
}

TEST(Nn, Convolution) {
  const std::string plain =
      "; stride=[1]; padding=[0]; dilation=[1]; transposed=false; output_padding=[0]; groups=";
  EXPECT_EQ(run("convolution", "f64[1,1,3]; f64[1,1,2]; f64[1]" + plain + "1",
                {{1, 2, 3}, {10, 1}, {0.5}}),
            "f64[1,1,2]: 12.5, 23.5");
  EXPECT_EQ(run("convolution", "i64[1,2,1]; i64[2,1,1]; -" + plain + "2", {{3, 4}, {5, 6}}),
            "i64[1,2,1]: 15, 24");
  EXPECT_EQ(run("convolution",
                "f64[1,1,2]; f64[1,1,2]; -; stride=[2]; padding=[0]; dilation=[1]; "
                "transposed=true; output_padding=[1]; groups=1",
                {{1, 2}, {3, 4}}),
            "f64[1,1,5]: 3, 4, 6, 8, 0");
  EXPECT_EQ(run("convolution_backward",
                "f64[1,1,2]; f64[1,1,3]; f64[1,1,2]; bias_sizes=[1]; stride=[1]; padding=[0]; "
                "dilation=[1]; transposed=false; output_padding=[0]; groups=1; "
                "output_mask=[true,false,false]",
                {{1, 2}, {1, 2, 3}, {10, 1}}),
            "f64[1,1,3]: 10, 21, 2");
  expect_refused("convolution", "f64[1,3,3]; f64[1,2,2]; -" + plain + "1",
                 "does not go with 3 input channels");
  expect_refused("convolution", "f64[1,1,3]; f64[1,1,4]; -" + plain + "1",
                 "the kernel is larger than the padded input");
}

// Shapes of transposed convolutions follow the weight's second dim, groups and output padding.
TEST(Nn, TransposedConvolutionHasItsOwnShape) {
  EXPECT_TRUE(run("convolution",
                  "f32[2,4,5]; f32[4,3,3]; -; stride=[3]; padding=[1]; dilation=[2]; "
                  "transposed=true; output_padding=[2]; groups=2",
                  {})
                  .starts_with("f32[2,6,17]:"));
}

TEST(Nn, ConvolutionRulesFollowTheCase) {
  const std::string wide =
      "; stride=[2]; padding=[3]; dilation=[1]; transposed=false; output_padding=[0]; groups=";
  const std::string call = "f64[4,4,9]; f64[6,4,7]; f64[6]" + wide + "1";
  EXPECT_TRUE(has_rule("convolution", call, "S(0) | S(0), R, R"));
  EXPECT_TRUE(has_rule("convolution", call, "S(1) | R, S(0), S(0)"));
  EXPECT_TRUE(has_rule("convolution", call, "P(sum) | S(1), S(1), P(sum)"));
  EXPECT_FALSE(has_rule("convolution", call, "P(sum) | S(1), S(1), R"));
  EXPECT_FALSE(has_rule("convolution", call, "S(2) | S(2), R, R"));
  EXPECT_TRUE(has_rule("convolution", "f64[4,4,9]; f64[4,1,7]; f64[4]" + wide + "4",
                       "S(1) | S(1), S(0), S(0)"));
  EXPECT_FALSE(has_rule("convolution", "f64[4,4,9]; f64[4,2,7]; f64[4]" + wide + "2",
                        "P(sum) | S(1), S(1), P(sum)"));
  const std::string gradient =
      "f64[4,6,6]; f64[4,4,9]; f64[6,4,7]; bias_sizes=[6]; stride=[2]; padding=[3]; dilation=[1]; "
      "transposed=false; output_padding=[0]; groups=1; output_mask=";
  expect_refused("convolution_backward", gradient + "[false,true,true]", "expected [4,6,5]");
}

TEST(Nn, ConvolutionGradientRulesFollowTheMask) {
  const std::string gradient =
      "f64[4,6,5]; f64[4,4,9]; f64[6,4,7]; bias_sizes=[6]; stride=[2]; padding=[3]; dilation=[1]; "
      "transposed=false; output_padding=[0]; groups=1; output_mask=";
  EXPECT_TRUE(has_rule("convolution_backward", gradient + "[false,true,true]",
                       "-, P(sum), P(sum) | S(0), S(0), R"));
  EXPECT_TRUE(has_rule("convolution_backward", gradient + "[true,true,true]",
                       "P(sum), S(0), S(0) | S(1), R, S(0)"));
  EXPECT_TRUE(has_rule("convolution_backward", gradient + "[true,true,true]",
                       "S(1), S(1), R | R, S(1), S(1)"));
  EXPECT_TRUE(has_rule("convolution_backward", gradient + "[true,false,false]",
                       "P(sum), -, - | P(sum), P(max), R"));
}

TEST(Nn, Pooling) {
  EXPECT_EQ(run("avg_pool2d", "f64[1,2,2]; kernel_size=[2,2]", {{1, 2, 3, 6}}), "f64[1,1,1]: 3");
  EXPECT_EQ(run("avg_pool2d", "i64[1,1,2]; kernel_size=[1,2]", {{-1, -2}}), "i64[1,1,1]: -1");
  EXPECT_EQ(run("_adaptive_avg_pool2d", "f64[1,1,3]; output_size=[1,2]", {{1, 2, 6}}),
            "f64[1,1,2]: 1.5, 4");
  EXPECT_EQ(run("max_pool2d_with_indices_backward",
                "f64[1,1,2]; f64[1,1,3]; i64[1,1,2]; kernel_size=[1,2]; stride=[1,1]; padding=0; "
                "dilation=1; ceil_mode=false",
                {{1, 2}, {0, 5, 0}, {1, 1}}),
            "f64[1,1,3]: 0, 3, 0");
  EXPECT_EQ(run("upsample_nearest1d", "f64[1,1,2]; output_size=[4]", {{1, 2}}),
            "f64[1,1,4]: 1, 1, 2, 2");
  EXPECT_EQ(run("upsample_linear1d", "f64[1,1,2]; output_size=[3]; align_corners=true", {{1, 2}}),
            "f64[1,1,3]: 1, 1.5, 2");
  expect_refused("avg_pool2d", "f64[1,2,2]; kernel_size=[2,2]; padding=[2,2]",
                 "padding must be at most half the kernel");
  expect_refused("avg_pool2d", "f64[1,2,2]; kernel_size=[3,3]",
                 "the window is larger than the padded input");
  expect_refused("upsample_nearest1d", "f64[1,2]; output_size=[4]", "a batch and channels");
  expect_refused("max_unpool2d", "f64[1,1,1]; i64[1,1,1]; output_size=[1,1]", "lies outside");
}

TEST(Nn, PoolingRulesFollowTheCase) {
  EXPECT_TRUE(has_rule("avg_pool2d", "f64[2,3,4,4]; kernel_size=[2,2]", "S(1) | S(1)"));
  EXPECT_TRUE(has_rule("avg_pool2d", "f64[2,3,4,4]; kernel_size=[2,2]", "P(sum) | S(2)"));
  EXPECT_FALSE(has_rule("avg_pool2d", "f64[2,3,4,4]; kernel_size=[2,2]", "P(avg) | S(2)"));
  EXPECT_FALSE(has_rule("avg_pool2d", "i64[2,3,4,4]; kernel_size=[2,2]", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("upsample_nearest2d", "f64[1,2,3,3]; output_size=[6,6]", "P(max) | P(max)"));
  EXPECT_FALSE(has_rule("upsample_bilinear2d",
                        "f64[1,2,3,3]; output_size=[6,6]; align_corners=false", "P(max) | P(max)"));
  EXPECT_FALSE(
      has_rule("max_pool2d_with_indices", "f64[2,3,4,4]; kernel_size=[2,2]", "P(max), R | P(max)"));
}

}  // namespace
}  // namespace onedim
