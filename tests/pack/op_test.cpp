#include "core/pack/op.hpp"

#include <gtest/gtest.h>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::call_of;
using tiny::fails_with;
using tiny::tensor_of;
using tiny::TinyOp;
using tiny::TinyPack;
using tiny::values_of;

// Runs on tensors; an absent one is null.
Result<std::vector<std::optional<Tensor>>> run(const Op& op, std::string_view text,
                                               std::vector<Tensor*> inputs) {
  return run_op(op, call_of(op, text), inputs);
}

TEST(Op, SeveralOutputsOneAbsent) {
  TinyPack pack;
  TinyOp& op = pack.op("tiny.split(Tensor x, bool both=True) -> (Tensor low, Tensor? high)");
  op.infer = [](const auto* host, const auto* call, auto* sink) {
    tiny::emit_meta(host, sink, DType::kF64, {2});
    const bool both = tiny::attribute(call, "both")->integer != 0;
    return both ? tiny::emit_meta(host, sink, DType::kF64, {1}) : tiny::emit_absent(host, sink);
  };
  pack.kernel("tiny.split").compute = [](const auto*, const onedim_call_t* call, const auto*) {
    tiny::set(call->outputs[0], 1, tiny::get(call->inputs[0], 0));
    tiny::set(call->outputs[0], 0, -1);
    if (call->outputs[1].present) tiny::set(call->outputs[1], 0, 7);
    return ONEDIM_OK;
  };
  const Registry registry = tiny::commit(pack);
  const Op& split = *registry.find("tiny.split");
  Tensor x = tensor_of(DType::kF64, {1}, {5});
  const auto both = run(split, "f64[1]", {&x});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(values_of(*(*both)[0]), (std::vector<double>{-1, 5}));
  EXPECT_EQ(values_of(*(*both)[1]), (std::vector<double>{7}));
  const auto one = run(split, "f64[1]; both=false", {&x});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_FALSE((*one)[1].has_value());
}

TEST(Op, ListsOptionalElementsAndListOutputs) {
  TinyPack pack;
  TinyOp& op = pack.op("tiny.echo(Tensor?[] xs, Tensor? y) -> Tensor[]");
  op.infer = [](const auto* host, const onedim_call_t* call, auto* sink) {
    for (uint64_t i = 0; i < call->input_count; ++i) {
      if (!call->inputs[i].present) continue;
      tiny::emit_meta(host, sink, static_cast<DType>(call->inputs[i].dtype),
                      tiny::shape_of(call->inputs[i]));
    }
    return ONEDIM_OK;
  };
  pack.kernel("tiny.echo").compute = [](const auto*, const onedim_call_t* call, const auto*) {
    EXPECT_EQ(call->argument_count, 2u);
    EXPECT_EQ(call->arguments[0].slot_count, 3);
    EXPECT_EQ(call->arguments[1].first_slot, 3);
    uint64_t output = 0;
    for (uint64_t i = 0; i < call->input_count; ++i) {
      if (call->inputs[i].present)
        tiny::set(call->outputs[output++], 0, tiny::get(call->inputs[i], 0));
    }
    return ONEDIM_OK;
  };
  const Registry registry = tiny::commit(pack);
  Tensor a = tensor_of(DType::kF32, {1}, {1});
  Tensor b = tensor_of(DType::kI64, {1}, {2});
  const auto outputs =
      run(*registry.find("tiny.echo"), "[f32[1]; -; i64[1]]", {&a, nullptr, &b, nullptr});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), 2u);
  EXPECT_EQ(values_of(*(*outputs)[1]), (std::vector<double>{2}));
}

TEST(Op, NoOutputsWritesItsArgument) {
  TinyPack pack;
  pack.op("tiny.fill_(Tensor(a!) x, Scalar value) -> ()").infer = [](const auto*, const auto*,
                                                                     auto*) { return ONEDIM_OK; };
  pack.kernel("tiny.fill_").compute = [](const auto*, const onedim_call_t* call, const auto*) {
    tiny::set(call->inputs[0], 0, tiny::attribute(call, "value")->real);
    return ONEDIM_OK;
  };
  const Registry registry = tiny::commit(pack);
  Tensor x = tensor_of(DType::kF32, {1}, {1});
  const auto outputs = run(*registry.find("tiny.fill_"), "f32[1]; value=2.5", {&x});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_TRUE(outputs->empty());
  EXPECT_EQ(values_of(x), std::vector<double>{2.5});
}

TEST(Op, AnOpOfItsOwnMayWriteInPlace) {
  TinyPack pack;
  pack.op("tiny.double_(Tensor(a!) x) -> Tensor(a!)").infer = [](const auto* host, const auto* call,
                                                                 auto* sink) {
    const onedim_tensor_t& x = call->inputs[0];
    return tiny::emit_meta(host, sink, static_cast<DType>(x.dtype), tiny::shape_of(x),
                           {x.strides, x.strides + x.ndim}, 0);
  };
  pack.kernel("tiny.double_").compute = [](const auto*, const onedim_call_t* call, const auto*) {
    EXPECT_EQ(call->inputs[0].data, call->outputs[0].data);
    tiny::set(call->outputs[0], 0, 2 * tiny::get(call->inputs[0], 0));
    return ONEDIM_OK;
  };
  const Registry registry = tiny::commit(pack);
  const Op& op = *registry.find("tiny.double_");
  Tensor x = tensor_of(DType::kF32, {1}, {3});
  const auto outputs = run(op, "f32[1]", {&x});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(values_of(x), std::vector<double>{6});
  EXPECT_TRUE((*outputs)[0]->shares_storage_with(x));
  Tensor other = Tensor::zeros(DType::kF32, {1});
  Tensor* const inputs[] = {&x};
  Tensor* const targets[] = {&other};
  ASSERT_TRUE(op.compute(call_of(op, "f32[1]"), inputs, targets, nullptr).ok());
  EXPECT_EQ(values_of(other), std::vector<double>{12});
  EXPECT_EQ(values_of(x), std::vector<double>{6});
}

TEST(Op, ViewsShareStorageAndNeedNoKernel) {
  TinyPack pack;
  pack.op("tiny.tail(Tensor(a) x) -> Tensor(a)").infer = [](const auto* host,
                                                            const onedim_call_t* call, auto* sink) {
    const onedim_tensor_t& x = call->inputs[0];
    return tiny::emit_meta(host, sink, DType::kF64, {x.shape[0] - 1}, {x.strides[0]}, 0,
                           x.strides[0]);
  };
  const Registry registry = tiny::commit(pack);
  const Op& op = *registry.find("tiny.tail");
  Tensor base = tensor_of(DType::kF64, {3, 2}, {0, 1, 2, 3, 4, 5});
  Tensor column = base.view({DType::kF64, {3}, {2}}, 1);
  const auto outputs = run(op, "f64[3]", {&column});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(values_of(*(*outputs)[0]), (std::vector<double>{3, 5}));
  EXPECT_TRUE((*outputs)[0]->shares_storage_with(base));
  Tensor copy = Tensor::zeros(DType::kF64, {2});
  Tensor x = tensor_of(DType::kF64, {3}, {7, 8, 9});
  Tensor* const inputs[] = {&x};
  Tensor* const targets[] = {&copy};
  ASSERT_TRUE(op.compute(call_of(op, "f64[3]"), inputs, targets, nullptr).ok());
  EXPECT_EQ(values_of(copy), (std::vector<double>{8, 9}));
  Tensor* const strided[] = {&column};
  EXPECT_TRUE(fails_with(op.compute(call_of(op, "f64[3]"), strided, targets, nullptr),
                         "whose strides are [2]"));
}

TEST(Op, FaultsOfInferNameOpAndPack) {
  TinyPack pack;
  TinyOp& op = pack.op("tiny.bad(Tensor x, int mode) -> Tensor");
  op.infer = [](const onedim_host_t* host, const onedim_call_t* call,
                onedim_sink_t* sink) -> int32_t {
    switch (tiny::attribute(call, "mode")->integer) {
      case 0:
        return ONEDIM_OK;  // emits nothing
      case 1:
        tiny::emit_meta(host, sink, static_cast<DType>(99), {2});
        return ONEDIM_OK;
      case 2:
        tiny::emit_meta(host, sink, DType::kF32, {-2});
        return ONEDIM_OK;
      case 3:
        return ONEDIM_STATUS_INVALID_ARGUMENT;  // does not say why
      case 4:
        return tiny::refuse(host, ONEDIM_STATUS_INVALID_ARGUMENT, "x is too short");
      case 5:
        return tiny::emit_meta(host, sink, DType::kF32, {2}, {1}, 5);
      case 6:
        return tiny::refuse(host, 77, "odd");
      default:
        return tiny::emit_meta(host, sink, DType::kF32, {int64_t{1} << 40, int64_t{1} << 40});
    }
  };
  const Registry registry = tiny::commit(pack);
  const Op& bad = *registry.find("tiny.bad");
  const auto infer = [&](int mode) {
    return bad.infer(call_of(bad, fmt::format("f32[4]; mode={}", mode)));
  };
  EXPECT_TRUE(fails_with(
      infer(0), "tiny.bad: infer of pack tiny emitted 0 outputs, but the schema returns 1"));
  EXPECT_TRUE(
      fails_with(infer(1), "tiny.bad: infer of pack tiny emitted output 0: there is no dtype 99"));
  EXPECT_TRUE(fails_with(infer(2), "shape[0] is -2; it must not be negative"));
  EXPECT_TRUE(
      fails_with(infer(3), "tiny.bad: infer returned 1 without saying why, a fault of pack tiny"));
  EXPECT_TRUE(fails_with(infer(4), "tiny.bad: x is too short"));
  EXPECT_EQ(infer(4).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(fails_with(infer(5), "a view of input 5, which is not there"));
  EXPECT_EQ(infer(6).status().code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(fails_with(infer(7), "has more than 2^62 elements"));
}

TEST(Op, DeclaredRulesAreTheTableThenTheCallback) {
  TinyPack pack;
  TinyOp& op = pack.op("tiny.two(Tensor x, Tensor y, Tensor? z=None) -> Tensor");
  op.infer = tiny::infer_same;
  op.rule_table = {"P(sum) | P(sum), P(sum), P(sum)", "S(1) | S(1), R, R", "P(max) | P(max), R, -"};
  op.rules = [](const onedim_host_t* host, const onedim_call_t* call, onedim_sink_t* sink) {
    onedim_placement_t shard{ONEDIM_PLACEMENT_ANY_SHARD, 0, 0, {nullptr, 0}, 0, 0};
    std::vector<onedim_placement_t> inputs(call->input_count, shard);
    onedim_requirement_t requirement{0, 0, 0, 0, 4};
    onedim_rule_t rule{
        sizeof(rule),          &shard, 1, inputs.data(), inputs.size(), &requirement, 1,
        ONEDIM_RULE_EVEN_ONLY, 42};
    host->emit_rule(sink, &rule);
    return host->emit_rule_text(
        sink, tiny::text_of(call->input_count == 3 ? "R | S(0), R, R" : "R | S(0)"),
        ONEDIM_RULE_TO_ROUNDING, 7);
  };
  const Registry registry = tiny::commit(pack);
  const Op& two = *registry.find("tiny.two");
  const auto texts = [&](std::string_view call_text) {
    const Call call = call_of(two, call_text);
    const Result<std::vector<Rule>> rules = two.declared_rules(call, *two.infer(call));
    EXPECT_TRUE(rules.ok()) << rules.status();
    std::vector<std::string> result;
    for (const Rule& rule : *rules) result.push_back(format_rule(rule));
    return result;
  };
  EXPECT_EQ(texts("f32[4]; f32[4]"),
            (std::vector<std::string>{"P(sum) | P(sum), P(sum), -", "P(max) | P(max), R, -",
                                      "S*(0) | S*(0), S*(0), -", "R | S(0), R, -"}));
  EXPECT_EQ(texts("f32[4,2]; f32[4,2]; f32[4,2]")[1], "S(1) | S(1), R, R");
  const Call call = call_of(two, "f32[4]; f32[4]");
  const std::vector<Rule> rules = *two.declared_rules(call, *two.infer(call));
  EXPECT_TRUE(rules[2].even_only);
  EXPECT_EQ(rules[2].tag, 42u);
  EXPECT_EQ(rules[2].requirements[0].multiple, 4);
  EXPECT_TRUE(rules[3].to_rounding);
  EXPECT_TRUE(fails_with(
      two.declared_rules(call_of(two, "f32[4]; y=2"), *two.infer(call_of(two, "f32[4]; y=2"))),
      "emitted \"R | S(0)\", which does not fit"));
}

TEST(Op, TableRulesOfACallWithANumber) {
  TinyPack pack;
  TinyOp& op = pack.op("tiny.mul(Tensor x, Tensor y) -> Tensor");
  op.infer = tiny::infer_same;
  op.rule_table = {"P(sum) | P(sum), R", "P(sum) | R, P(sum)", "S*(0) | S*(0), S*(0)"};
  const Registry registry = tiny::commit(pack);
  const Op& mul = *registry.find("tiny.mul");
  const Call call = call_of(mul, "f32[4]; y=2");
  const std::vector<Rule> rules = *mul.declared_rules(call, *mul.infer(call));
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(format_rule(rules[0]), "P(sum) | P(sum)");
}

TEST(Op, RuleFaultsAreReported) {
  TinyPack pack;
  TinyOp& op = pack.op("tiny.bad(Tensor x, str rule) -> Tensor");
  op.infer = tiny::infer_same;
  op.rules = [](const onedim_host_t* host, const onedim_call_t* call, onedim_sink_t* sink) {
    host->emit_rule_text(sink, tiny::attribute(call, "rule")->text, 0, 0);
    return ONEDIM_OK;
  };
  const Registry registry = tiny::commit(pack);
  const Op& bad = *registry.find("tiny.bad");
  const auto rules = [&](std::string_view rule) {
    const Call call = call_of(bad, fmt::format("f32[4]; rule=\"{}\"", rule));
    return bad.declared_rules(call, *bad.infer(call));
  };
  EXPECT_TRUE(rules("S(0) | S(0)").ok());
  EXPECT_TRUE(fails_with(rules("S(1) | S(0)"), "emitted \"S(1) | S(0)\", which does not fit"));
  EXPECT_TRUE(fails_with(rules("S(0) | S(0), R"), "1 input slots"));
  EXPECT_TRUE(fails_with(rules("- | R"), "does not fit"));
  EXPECT_TRUE(fails_with(rules("S(-1) | S(-1)"), "tiny.bad: rules of pack tiny emitted rule 0"));
  EXPECT_TRUE(fails_with(rules("what"), "rule 0"));
}

TEST(Op, SamplesAreTheTableThenTheCallback) {
  TinyPack pack;
  TinyOp& op = pack.op("tiny.a(Tensor x) -> Tensor");
  op.infer = tiny::infer_same;
  op.sample_table = {"f32[1]"};
  op.samples = [](const onedim_host_t* host, onedim_sink_t* sink) {
    return host->emit_sample(sink, tiny::text_of("f32[2]"));
  };
  const Registry registry = tiny::commit(pack);
  EXPECT_EQ(*registry.find("tiny.a")->samples(), (std::vector<std::string>{"f32[1]", "f32[2]"}));
}

TEST(Op, AcceptLocalSaysWhyNot) {
  TinyPack pack;
  TinyOp& op = pack.op("tiny.a(Tensor x) -> Tensor");
  op.infer = tiny::infer_same;
  op.accept = [](const onedim_host_t* host, const onedim_call_t* call) -> int32_t {
    if (call->inputs[0].shape[0] % 16 == 0) return ONEDIM_OK;
    return tiny::refuse(host, ONEDIM_STATUS_INVALID_ARGUMENT, "x must be a multiple of 16");
  };
  const Registry registry = tiny::commit(pack);
  const Op& a = *registry.find("tiny.a");
  EXPECT_TRUE(a.accept_local(call_of(a, "f32[32]"), {}, nullptr).ok());
  EXPECT_TRUE(fails_with(a.accept_local(call_of(a, "f32[8]"), {}, nullptr),
                         "tiny.a: x must be a multiple of 16"));
}

TEST(Op, TensorsMustFitTheCall) {
  TinyPack pack;
  pack.op("tiny.a(Tensor x, Tensor? y) -> Tensor").infer = tiny::infer_same;
  const Registry registry = tiny::commit(pack);
  const Op& a = *registry.find("tiny.a");
  Tensor x = Tensor::zeros(DType::kF32, {2});
  EXPECT_TRUE(fails_with(run(a, "f32[2]", {&x}), "1 tensors for 2 input slots"));
  EXPECT_TRUE(
      fails_with(run(a, "f32[2]", {&x, &x}), "input slot 1 is given, but the call says absent"));
  EXPECT_TRUE(fails_with(run(a, "f32[2]", {nullptr, nullptr}), "input slot 0 is absent"));
  EXPECT_TRUE(
      fails_with(run(a, "f32[2]", {&x, nullptr}), "tiny.a: no pack has a cpu kernel for it"));
}

}  // namespace
}  // namespace onedim
