#include "core/pack/prepared_call.hpp"

#include <gtest/gtest.h>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::call_of;
using tiny::fails_with;
using tiny::tensor_of;
using tiny::TinyKernel;
using tiny::TinyPack;
using tiny::values_of;

std::unique_ptr<PreparedCompute> prepare(const Op& op, const Call& call) {
  Result<std::unique_ptr<PreparedCompute>> prepared =
      PreparedCompute::create(op, call, *op.infer(call), nullptr);
  EXPECT_TRUE(prepared.ok()) << prepared.status();
  return prepared.ok() ? *std::move(prepared) : nullptr;
}

// Reads what an aliased output would have overwritten.
TinyPack reverse_pack() {
  TinyPack pack;
  pack.op("tiny.reverse(Tensor x) -> Tensor").infer = tiny::infer_same;
  pack.kernel("tiny.reverse").compute = [](const auto*, const onedim_call_t* call, const auto*) {
    const int64_t count = tiny::count_of(call->inputs[0]);
    for (int64_t i = 0; i < count; ++i) {
      tiny::set(call->outputs[0], i, tiny::get(call->inputs[0], count - 1 - i));
    }
    return ONEDIM_OK;
  };
  return pack;
}

TEST(PreparedCompute, RunsManyTimesWithOtherDataAndStrides) {
  TinyPack pack = reverse_pack();
  const Registry registry = tiny::commit(pack);
  const Op& op = *registry.find("tiny.reverse");
  const auto prepared = prepare(op, call_of(op, "f64[3]"));
  Tensor y = Tensor::zeros(DType::kF64, {3});
  for (const double start : {1.0, 10.0}) {
    Tensor x = tensor_of(DType::kF64, {3}, {start, start + 1, start + 2});
    Tensor* const inputs[] = {&x};
    Tensor* const outputs[] = {&y};
    ASSERT_TRUE(prepared->run(inputs, outputs).ok());
    EXPECT_EQ(values_of(y), (std::vector<double>{start + 2, start + 1, start}));
  }
  Tensor wide = tensor_of(DType::kF64, {3, 2}, {1, 0, 2, 0, 3, 0});
  Tensor strided = wide.view({DType::kF64, {3}, {2}}, 0);
  Tensor* const inputs[] = {&strided};
  Tensor* const outputs[] = {&y};
  ASSERT_TRUE(prepared->run(inputs, outputs).ok());
  EXPECT_EQ(values_of(y), (std::vector<double>{3, 2, 1}));
}

TEST(PreparedCompute, AnOutputThatIsAnInputGoesThroughATemporary) {
  TinyPack pack = reverse_pack();
  const Registry registry = tiny::commit(pack);
  const Op& op = *registry.find("tiny.reverse");
  const auto prepared = prepare(op, call_of(op, "f64[4]"));
  for (int round = 0; round < 2; ++round) {
    Tensor x = tensor_of(DType::kF64, {4}, {1, 2, 3, 4});
    Tensor* const tensors[] = {&x};
    ASSERT_TRUE(prepared->run(tensors, tensors).ok());
    EXPECT_EQ(values_of(x), (std::vector<double>{4, 3, 2, 1}));
  }
}

TEST(PreparedCompute, RefusesTensorsOfAnotherCall) {
  TinyPack pack = reverse_pack();
  const Registry registry = tiny::commit(pack);
  const Op& op = *registry.find("tiny.reverse");
  const auto prepared = prepare(op, call_of(op, "f64[3]"));
  Tensor right = Tensor::zeros(DType::kF64, {3});
  Tensor shape = Tensor::zeros(DType::kF64, {4});
  Tensor dtype = Tensor::zeros(DType::kF32, {3});
  const auto run = [&](Tensor* in, Tensor* out) {
    Tensor* const inputs[] = {in};
    Tensor* const outputs[] = {out};
    return prepared->run(inputs, outputs);
  };
  EXPECT_TRUE(
      fails_with(run(&shape, &right), "input 0 is f64[4], but the call was prepared for f64[3]"));
  EXPECT_TRUE(fails_with(run(&dtype, &right), "input 0 is f32[3]"));
  EXPECT_TRUE(fails_with(run(&right, &shape), "output 0 is f64[4]"));
  EXPECT_TRUE(fails_with(run(&right, nullptr), "output 0 is absent"));
  EXPECT_TRUE(fails_with(run(nullptr, &right), "input 0 is absent"));
  EXPECT_TRUE(
      fails_with(prepared->run({}, {}), "0 inputs and 0 outputs given, prepared for 1 and 1"));
}

TEST(PreparedCompute, KernelsAreFoundByTheInputsDtypes) {
  TinyPack pack = reverse_pack();
  pack.kernels[0].dtypes = 1u << ONEDIM_DTYPE_F32 | 1u << ONEDIM_DTYPE_I64;
  pack.op("tiny.zeros(int n, ScalarType dtype) -> Tensor").infer = [](const auto* host,
                                                                      const auto* call,
                                                                      auto* sink) {
    return tiny::emit_meta(host, sink, static_cast<DType>(tiny::attribute(call, "dtype")->integer),
                           {tiny::attribute(call, "n")->integer});
  };
  TinyKernel& zeros = pack.kernel("tiny.zeros");
  zeros.dtypes = 1u << ONEDIM_DTYPE_F32;
  zeros.compute = [](const auto*, const auto*, const auto*) { return ONEDIM_OK; };
  const Registry registry = tiny::commit(pack);
  const auto create = [&](std::string_view name, std::string_view text) {
    const Op& op = *registry.find(name);
    const Call call = call_of(op, text);
    return PreparedCompute::create(op, call, *op.infer(call), nullptr).status();
  };
  EXPECT_TRUE(create("tiny.reverse", "f32[3]").ok());
  const Status status = create("tiny.reverse", "f64[3]");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(
      fails_with(status, "tiny.reverse: the cpu kernel of pack tiny takes f32 i64, not f64"));
  EXPECT_TRUE(create("tiny.zeros", "n=2; dtype=f32").ok());
  EXPECT_TRUE(fails_with(create("tiny.zeros", "n=2; dtype=f64"), "takes f32, not f64"));
}

TEST(PreparedCompute, WorkspaceSeedAndThreadsReachTheKernel) {
  TinyPack pack;
  pack.op("tiny.seen(Tensor x) -> Tensor").infer = [](const auto* host, const auto*, auto* sink) {
    return tiny::emit_meta(host, sink, DType::kF64, {4});
  };
  int asked = 0;
  TinyKernel& kernel = pack.kernel("tiny.seen");
  kernel.workspace = [&](const auto*, const auto*, uint64_t* bytes) {
    ++asked;
    *bytes = 100;
    return ONEDIM_OK;
  };
  kernel.compute = [](const auto*, const onedim_call_t* call, const onedim_execution_t* execution) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(execution->workspace) % 64, 0u);
    EXPECT_EQ(execution->stream, nullptr);
    tiny::set(call->outputs[0], 0, static_cast<double>(execution->workspace_bytes));
    tiny::set(call->outputs[0], 1, execution->thread_count);
    tiny::set(call->outputs[0], 2, static_cast<double>(call->seed));
    tiny::set(call->outputs[0], 3, static_cast<double>(call->call_id));
    return ONEDIM_OK;
  };
  const Registry registry = tiny::commit(pack);
  const Op& op = *registry.find("tiny.seen");
  Call call = call_of(op, "f32[1]");
  call.seed = 5;
  call.call_id = 6;
  auto prepared = PreparedCompute::create(op, call, *op.infer(call), nullptr, 3);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  Tensor x = Tensor::zeros(DType::kF32, {1});
  Tensor y = Tensor::zeros(DType::kF64, {4});
  Tensor* const inputs[] = {&x};
  Tensor* const outputs[] = {&y};
  ASSERT_TRUE((*prepared)->run(inputs, outputs).ok());
  EXPECT_EQ(values_of(y), (std::vector<double>{100, 3, 5, 6}));
  (*prepared)->set_identity(8, 9);
  ASSERT_TRUE((*prepared)->run(inputs, outputs).ok());
  EXPECT_EQ(values_of(y), (std::vector<double>{100, 3, 8, 9}));
  EXPECT_EQ(asked, 1);
}

TEST(PreparedCompute, KernelAndWorkspaceFailuresArePassedOn) {
  TinyPack pack = reverse_pack();
  pack.kernels[0].compute = [](const onedim_host_t* host, const auto*, const auto*) {
    return tiny::refuse(host, ONEDIM_STATUS_INVALID_ARGUMENT, "index 9 is out of range");
  };
  const Registry registry = tiny::commit(pack);
  const Op& op = *registry.find("tiny.reverse");
  Tensor x = Tensor::zeros(DType::kF64, {3});
  Tensor y = Tensor::zeros(DType::kF64, {3});
  Tensor* const inputs[] = {&x};
  Tensor* const outputs[] = {&y};
  EXPECT_TRUE(fails_with(op.compute(call_of(op, "f64[3]"), inputs, outputs, nullptr),
                         "tiny.reverse: index 9 is out of range"));
  pack.kernels[0].workspace = [](const auto*, const auto*, uint64_t* bytes) {
    *bytes = ~uint64_t{0};
    return ONEDIM_OK;
  };
  const Registry greedy = tiny::commit(pack);
  const Op& asks = *greedy.find("tiny.reverse");
  EXPECT_TRUE(fails_with(asks.compute(call_of(asks, "f64[3]"), inputs, outputs, nullptr),
                         "bytes of workspace"));
}

}  // namespace
}  // namespace onedim
