#include "core/pack/variant.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/pack/prepared_call.hpp"
#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::call_of;
using tiny::fails_with;
using tiny::tensor_of;
using tiny::TinyOp;
using tiny::TinyPack;
using tiny::values_of;

// The result has the larger shape and the dtype that comes first in the ABI's order.
int32_t infer_add(const onedim_host_t* host, const onedim_call_t* call, onedim_sink_t* sink) {
  const onedim_tensor_t* larger = &call->inputs[0];
  int32_t dtype = larger->dtype;
  for (uint64_t i = 1; i < call->input_count; ++i) {
    if (tiny::count_of(call->inputs[i]) > tiny::count_of(*larger)) larger = &call->inputs[i];
    dtype = std::min(dtype, call->inputs[i].dtype);
  }
  return tiny::emit_meta(host, sink, static_cast<DType>(dtype), tiny::shape_of(*larger));
}

// Clears first, so that an input that were the output would be lost.
int32_t compute_add(const onedim_host_t*, const onedim_call_t* call, const onedim_execution_t*) {
  const auto value = [&](uint64_t slot, int64_t i) {
    return tiny::get(call->inputs[slot], tiny::count_of(call->inputs[slot]) == 1 ? 0 : i);
  };
  const onedim_value_t* number = tiny::attribute(call, "other");
  for (int64_t i = 0; i < tiny::count_of(call->outputs[0]); ++i) {
    tiny::set(call->outputs[0], i, -100);
    const double other = number == nullptr ? value(1, i) : static_cast<double>(number->integer);
    tiny::set(call->outputs[0], i, value(0, i) + other);
  }
  return ONEDIM_OK;
}

void declare_add(TinyPack& pack) {
  TinyOp& add = pack.op("x.add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  add.infer = infer_add;
  add.rule_table = {"S*(0) | S*(0), S*(0)", "P(sum) | P(sum), P(sum)", "P(max) | P(max), R",
                    "P(max) | R, P(max)"};
  add.sample_table = {"f32[4]; f32[4]:positive; alpha=2", "f32[1]; f32[4]", "i64[3]; f32[3]",
                      "f64[2]; other=3"};
  add.example = "f32[4]; f32[4]";
  pack.kernel("x.add").compute = compute_add;
  pack.op("x.add_(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)").variant_of =
      "x.add";
  pack.op("x.add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)")
      .variant_of = "x.add";
}

void declare_minmax(TinyPack& pack) {
  TinyOp& minmax = pack.op("x.minmax(Tensor x) -> (Tensor min, Tensor max)");
  minmax.infer = [](const onedim_host_t* host, const onedim_call_t* call, onedim_sink_t* sink) {
    tiny::emit_meta(host, sink, static_cast<DType>(call->inputs[0].dtype), {});
    return tiny::emit_meta(host, sink, static_cast<DType>(call->inputs[0].dtype), {});
  };
  minmax.rule_table = {"P(min), P(max) | S(0)"};
  minmax.sample_table = {"f64[3]"};
  pack.kernel("x.minmax").compute = [](const auto*, const onedim_call_t* call, const auto*) {
    const int64_t last = tiny::count_of(call->inputs[0]) - 1;
    tiny::set(call->outputs[0], 0, tiny::get(call->inputs[0], 0));
    tiny::set(call->outputs[1], 0, tiny::get(call->inputs[0], last));
    return ONEDIM_OK;
  };
  pack.op("x.minmax.out(Tensor x, *, Tensor(a!) low, Tensor(b!) high) -> "
          "(Tensor(a!) low, Tensor(b!) high)")
      .variant_of = "x.minmax";
}

void declare_negate_each(TinyPack& pack) {
  TinyOp& each = pack.op("x.negate_each(Tensor[] xs) -> Tensor[]");
  each.infer = [](const onedim_host_t* host, const onedim_call_t* call, onedim_sink_t* sink) {
    for (uint64_t i = 0; i < call->input_count; ++i) {
      const onedim_tensor_t& x = call->inputs[i];
      tiny::emit_meta(host, sink, static_cast<DType>(x.dtype), tiny::shape_of(x));
    }
    return ONEDIM_OK;
  };
  each.sample_table = {"[f32[2]; f32[1]]"};
  pack.kernel("x.negate_each").compute = [](const auto*, const onedim_call_t* call, const auto*) {
    for (uint64_t k = 0; k < call->output_count; ++k) {
      tiny::set(call->outputs[k], 0, -tiny::get(call->inputs[k], 0));
    }
    return ONEDIM_OK;
  };
  pack.op("x.negate_each_(Tensor(a!)[] xs) -> ()").variant_of = "x.negate_each";
}

TinyPack forms_pack() {
  TinyPack pack;
  declare_add(pack);
  declare_minmax(pack);
  declare_negate_each(pack);
  return pack;
}

class VariantTest : public ::testing::Test {
 protected:
  const Op& op(std::string_view name) const { return *registry_.find(name); }
  Result<std::vector<std::optional<Tensor>>> run(std::string_view name, std::string_view text,
                                                 std::vector<Tensor*> inputs) const {
    return run_op(op(name), call_of(op(name), text), inputs);
  }

  TinyPack pack_ = forms_pack();
  Registry registry_ = tiny::commit(pack_);
};

TEST_F(VariantTest, KindsAreRecognised) {
  EXPECT_EQ(op("x.add").variant, Variant::kPlain);
  EXPECT_EQ(op("x.add_").variant, Variant::kInPlace);
  EXPECT_EQ(op("x.add.out").variant, Variant::kOut);
  EXPECT_EQ(op("x.minmax.out").written_arguments, (std::vector<int>{1, 2}));
  EXPECT_EQ(op("x.add_").find_kernel(ONEDIM_DEVICE_CPU),
            op("x.add").find_kernel(ONEDIM_DEVICE_CPU));
  EXPECT_EQ(op("x.add_").example, "f32[4]; f32[4]");
  EXPECT_EQ(op("x.add.out").example, "f32[4]; f32[4]; f32[4]");
}

TEST_F(VariantTest, InPlaceWritesSelfAndReturnsIt) {
  Tensor self = tensor_of(DType::kF32, {3}, {1, 2, 3});
  Tensor other = tensor_of(DType::kF32, {3}, {10, 20, 30});
  const auto outputs = run("x.add_", "f32[3]; f32[3]", {&self, &other});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(values_of(self), (std::vector<double>{11, 22, 33}));
  EXPECT_TRUE((*outputs)[0]->shares_storage_with(self));
  const Call call = call_of(op("x.add_"), "f32[3]; f32[3]");
  EXPECT_EQ((*op("x.add_").infer(call))[0]->view_of_input, 0);
}

TEST_F(VariantTest, InPlaceOnAStridedViewAndWithItself) {
  Tensor base = tensor_of(DType::kF32, {2, 2}, {1, 2, 3, 4});
  Tensor column = base.view({DType::kF32, {2}, {2}}, 1);
  ASSERT_TRUE(run("x.add_", "f32[2]; f32[2]", {&column, &column}).ok());
  EXPECT_EQ(values_of(base), (std::vector<double>{1, 4, 3, 8}));
  Tensor first = base.narrow(0, 0, 1).view({DType::kF32, {1}, {1}}, 0);
  Tensor all = base.view({DType::kF32, {4}, {1}}, 0);
  ASSERT_TRUE(run("x.add_", "f32[4]; f32[1]", {&all, &first}).ok());
  EXPECT_EQ(values_of(base), (std::vector<double>{2, 5, 4, 9}));
}

TEST_F(VariantTest, InPlaceTakesANumber) {
  Tensor self = tensor_of(DType::kI64, {2}, {1, 2});
  ASSERT_TRUE(run("x.add_", "i64[2]; other=3", {&self}).ok());
  EXPECT_EQ(values_of(self), (std::vector<double>{4, 5}));
}

TEST_F(VariantTest, InPlaceRefusesWhatDoesNotFit) {
  const auto infer = [&](std::string_view text) {
    return op("x.add_").infer(call_of(op("x.add_"), text));
  };
  EXPECT_TRUE(fails_with(infer("f32[1]; f32[4]"),
                         "x.add_: output with shape [1] doesn't match the broadcast shape [4]"));
  EXPECT_TRUE(fails_with(infer("i64[3]; f32[3]"),
                         "x.add_: result type f32 can't be cast to the desired output type i64"));
  EXPECT_TRUE(infer("f32[3]; f64[3]").ok());
  Call expanded = call_of(op("x.add_"), "f32[3]; f32[3]");
  expanded.inputs[0]->strides = {0};
  EXPECT_TRUE(
      fails_with(op("x.add_").infer(expanded), "more than one element of the written tensor"));
}

TEST_F(VariantTest, OutWritesTheExtraTensor) {
  Tensor self = tensor_of(DType::kF32, {2}, {1, 2});
  Tensor other = tensor_of(DType::kF32, {2}, {3, 4});
  Tensor out = Tensor::zeros(DType::kF64, {2});
  const auto outputs = run("x.add.out", "f32[2]; f32[2]; f64[2]", {&self, &other, &out});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(values_of(out), (std::vector<double>{4, 6}));
  EXPECT_TRUE((*outputs)[0]->shares_storage_with(out));
  ASSERT_TRUE(run("x.add.out", "f32[2]; f32[2]; f32[2]", {&self, &other, &other}).ok());
  EXPECT_EQ(values_of(other), (std::vector<double>{4, 6}));
}

TEST_F(VariantTest, OutRefusesOtherShapes) {
  const auto infer = [&](std::string_view text) {
    return op("x.add.out").infer(call_of(op("x.add.out"), text));
  };
  const auto resized = infer("f32[2]; f32[2]; f32[0]");
  EXPECT_TRUE(fails_with(resized, "out= of shape [0] would be resized to [2]"));
  EXPECT_EQ(resized.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(fails_with(infer("f32[2]; f32[2]; f32[3]"),
                         "output with shape [3] doesn't match the result's shape [2]"));
  EXPECT_TRUE(fails_with(infer("f32[2]; f32[2]; i64[2]"), "can't be cast"));
}

TEST_F(VariantTest, SeveralWrittenArguments) {
  Tensor x = tensor_of(DType::kF64, {3}, {1, 2, 3});
  Tensor low = Tensor::zeros(DType::kF64, {});
  Tensor high = Tensor::zeros(DType::kF64, {});
  ASSERT_TRUE(run("x.minmax.out", "f64[3]; f64[]; f64[]", {&x, &low, &high}).ok());
  EXPECT_EQ(values_of(low), std::vector<double>{1});
  EXPECT_EQ(values_of(high), std::vector<double>{3});
}

TEST_F(VariantTest, ListsAreWrittenThoughTheSchemaReturnsNothing) {
  Tensor a = tensor_of(DType::kF32, {1}, {1});
  Tensor b = tensor_of(DType::kF32, {1}, {2});
  const auto outputs = run("x.negate_each_", "[f32[1]; f32[1]]", {&a, &b});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(outputs->size(), 2u);
  EXPECT_EQ(values_of(b), std::vector<double>{-2});
}

TEST_F(VariantTest, OtherOutputsLeaveSelfAlone) {
  Tensor self = tensor_of(DType::kF32, {1}, {1});
  Tensor other = tensor_of(DType::kF32, {1}, {2});
  Tensor result = Tensor::zeros(DType::kF32, {1});
  Tensor* const inputs[] = {&self, &other};
  Tensor* const outputs[] = {&result};
  ASSERT_TRUE(
      op("x.add_").compute(call_of(op("x.add_"), "f32[1]; f32[1]"), inputs, outputs, nullptr).ok());
  EXPECT_EQ(values_of(result), std::vector<double>{3});
  EXPECT_EQ(values_of(self), std::vector<double>{1});
}

TEST_F(VariantTest, RulesKeepThePlacementOfWhatIsWritten) {
  const auto texts = [&](std::string_view name, std::string_view text) {
    const Call call = call_of(op(name), text);
    const Result<std::vector<Rule>> rules = op(name).declared_rules(call, *op(name).infer(call));
    EXPECT_TRUE(rules.ok()) << rules.status();
    std::vector<std::string> result;
    for (const Rule& rule : *rules) result.push_back(format_rule(rule));
    return result;
  };
  EXPECT_EQ(texts("x.add_", "f32[4]; f32[4]"),
            (std::vector<std::string>{"S*(0) | S*(0), S*(0)", "P(sum) | P(sum), P(sum)",
                                      "P(max) | P(max), R"}));
  EXPECT_EQ(
      texts("x.add.out", "f32[4]; f32[4]; f32[4]"),
      (std::vector<std::string>{"S*(0) | S*(0), S*(0), S*(0)", "P(sum) | P(sum), P(sum), P(sum)",
                                "P(max) | P(max), R, P(max)", "P(max) | R, P(max), P(max)"}));
  EXPECT_EQ(texts("x.minmax.out", "f64[3]; f64[]; f64[]"),
            (std::vector<std::string>{"P(min), P(max) | S(0), P(min), P(max)"}));
}

TEST_F(VariantTest, SamplesComeFromThePlainOp) {
  EXPECT_EQ(*op("x.add_").samples(),
            (std::vector<std::string>{"f32[4]; f32[4]:positive; alpha=2", "f64[2]; other=3"}));
  EXPECT_EQ(*op("x.add.out").samples(),
            (std::vector<std::string>{"f32[4]; f32[4]:positive; f32[4]; alpha=2",
                                      "f32[1]; f32[4]; f32[4]", "i64[3]; f32[3]; f32[3]",
                                      "f64[2]; f64[2]; other=3"}));
  EXPECT_EQ(*op("x.minmax.out").samples(), (std::vector<std::string>{"f64[3]; f64[]; f64[]"}));
  EXPECT_EQ(*op("x.negate_each_").samples(), (std::vector<std::string>{"[f32[2]; f32[1]]"}));
}

}  // namespace
}  // namespace onedim
