#include "core/pack/partial_kind.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::fails_with;
using tiny::tensor_of;
using tiny::TinyPack;
using tiny::values_of;

const onedim_text_t kParts[] = {tiny::text_of("max"), tiny::text_of("sum")};

// logsumexp of a vector as (max, sum of exp(x - max)).
int32_t state(const onedim_host_t* host, void*, const onedim_call_t* call,
              onedim_sink_t* sink) noexcept {
  EXPECT_NE(call->location, nullptr);
  tiny::emit_meta(host, sink, DType::kF64, {});
  return tiny::emit_meta(host, sink, DType::kF64, {});
}
int32_t identity(const onedim_host_t*, void*, const onedim_tensor_t* states) noexcept {
  tiny::set(states[0], 0, -std::numeric_limits<double>::infinity());
  tiny::set(states[1], 0, 0);
  return ONEDIM_OK;
}
int32_t combine(const onedim_host_t*, void*, const onedim_tensor_t* into,
                const onedim_tensor_t* from) noexcept {
  const double a = tiny::get(into[0], 0);
  const double b = tiny::get(from[0], 0);
  const double larger = std::max(a, b);
  if (std::isinf(larger)) return ONEDIM_OK;
  const double sum =
      tiny::get(into[1], 0) * std::exp(a - larger) + tiny::get(from[1], 0) * std::exp(b - larger);
  tiny::set(into[0], 0, larger);
  tiny::set(into[1], 0, sum);
  return ONEDIM_OK;
}
int32_t local(const onedim_host_t* host, void* user, const onedim_call_t* call,
              const onedim_tensor_t* states) noexcept {
  identity(host, user, states);
  for (int64_t i = 0; i < tiny::count_of(call->inputs[0]); ++i) {
    double x = tiny::get(call->inputs[0], i);
    double one = 1;
    const int64_t stride = 1;
    onedim_tensor_t from[2] = {states[0], states[1]};
    from[0].data = &x;
    from[1].data = &one;
    from[0].strides = from[1].strides = &stride;
    combine(host, user, states, from);
  }
  return ONEDIM_OK;
}
int32_t finish(const onedim_host_t*, void*, const onedim_tensor_t* states,
               const onedim_tensor_t* outputs) noexcept {
  tiny::set(outputs[0], 0, tiny::get(states[0], 0) + std::log(tiny::get(states[1], 0)));
  return ONEDIM_OK;
}

onedim_partial_kind_t hidden_kind() {
  onedim_partial_kind_t kind{};
  kind.struct_size = sizeof(kind);
  kind.name = tiny::text_of("tiny.max_sum");
  kind.components = kParts;
  kind.component_count = 2;
  kind.output_count = 1;
  kind.state = state;
  kind.local = local;
  kind.identity = identity;
  kind.combine = combine;
  kind.finish = finish;
  return kind;
}

// The op's two outputs are the state.
onedim_partial_kind_t open_kind() {
  onedim_partial_kind_t kind = hidden_kind();
  kind.name = tiny::text_of("tiny.open");
  kind.output_count = 2;
  kind.state = nullptr;
  kind.local = nullptr;
  kind.finish = nullptr;
  return kind;
}

class PartialKindTest : public ::testing::Test {
 protected:
  PartialKindTest() {
    pack_.op("tiny.lse(Tensor x) -> Tensor").infer = [](const auto* host, const auto*, auto* sink) {
      return tiny::emit_meta(host, sink, DType::kF64, {});
    };
    pack_.kinds = {hidden_kind(), open_kind()};
    registry_ = tiny::commit(pack_);
    call_ = tiny::call_of(*registry_.find("tiny.lse"), "f64[3]");
    location_.mesh_shape = {2};
    location_.coordinate = {0};
    location_.tags = {0};
  }
  const PartialKind& kind(std::string_view name) const {
    return *registry_.find_partial_kind(name);
  }

  TinyPack pack_;
  Registry registry_;
  Call call_;
  Location location_;
};

TEST_F(PartialKindTest, LocalCombineFinishGiveTheWholeResult) {
  const PartialKind& lse = kind("tiny.max_sum");
  EXPECT_TRUE(lse.has_local());
  const Result<std::vector<TensorMeta>> metas = lse.state_metas(call_, {}, &location_);
  ASSERT_TRUE(metas.ok()) << metas.status();
  std::vector<Tensor> total;
  for (const TensorMeta& meta : *metas) total.push_back(Tensor::zeros(meta));
  ASSERT_TRUE(lse.identity(total).ok());
  double expected = 0;
  for (const std::vector<double>& part :
       {std::vector<double>{1, 2, 3}, std::vector<double>{50, -4, 0}}) {
    Tensor x = tensor_of(DType::kF64, {3}, part);
    Tensor* const inputs[] = {&x};
    std::vector<Tensor> states{Tensor::zeros((*metas)[0]), Tensor::zeros((*metas)[1])};
    ASSERT_TRUE(lse.local(call_, inputs, &location_, states).ok());
    ASSERT_TRUE(lse.combine(total, states).ok());
    for (const double value : part) expected += std::exp(value);
  }
  std::vector<Tensor> outputs{Tensor::zeros(DType::kF64, {})};
  ASSERT_TRUE(lse.finish(total, outputs).ok());
  EXPECT_NEAR(values_of(outputs[0])[0], std::log(expected), 1e-12);
}

TEST_F(PartialKindTest, WithoutStateTheOutputsAreTheState) {
  const PartialKind& open = kind("tiny.open");
  EXPECT_FALSE(open.has_local());
  const OptionalOutput output = OutputMeta{TensorMeta::contiguous(DType::kF32, {2}), -1, 0};
  const Result<std::vector<TensorMeta>> metas =
      open.state_metas(call_, std::vector{output, output}, nullptr);
  ASSERT_TRUE(metas.ok()) << metas.status();
  EXPECT_EQ(format_meta((*metas)[1]), "f32[2]");
  const std::vector<Tensor> states{tensor_of(DType::kF32, {1}, {1}),
                                   tensor_of(DType::kF32, {1}, {2})};
  std::vector<Tensor> outputs{Tensor::zeros(DType::kF32, {1}), Tensor::zeros(DType::kF32, {1})};
  ASSERT_TRUE(open.finish(states, outputs).ok());
  EXPECT_EQ(values_of(outputs[1]), std::vector<double>{2});
  EXPECT_TRUE(fails_with(open.local(call_, {}, nullptr, outputs),
                         "its state is what the op's kernel writes"));
}

TEST_F(PartialKindTest, WrongUseIsRefused) {
  const PartialKind& lse = kind("tiny.max_sum");
  std::vector<Tensor> one{Tensor::zeros(DType::kF64, {})};
  std::vector<Tensor> two{one[0].clone(), one[0].clone()};
  std::vector<Tensor> other{Tensor::zeros(DType::kF64, {3}), one[0].clone()};
  EXPECT_TRUE(
      fails_with(lse.identity(one), "partial kind tiny.max_sum: 1 states given, but it has 2"));
  EXPECT_TRUE(fails_with(lse.combine(two, other),
                         "state max is f64[] on one side and f64[3] on the other"));
  EXPECT_TRUE(fails_with(lse.finish(two, two), "2 outputs given, but its group has 1"));
  EXPECT_TRUE(fails_with(lse.local(call_, {}, &location_, two), "0 tensors for 1 input slots"));
  EXPECT_TRUE(fails_with(kind("tiny.open").state_metas(call_, {}, nullptr),
                         "0 states given, but it has 2"));
}

}  // namespace
}  // namespace onedim
