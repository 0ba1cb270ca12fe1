// The pack of release 1.0, built against that release's header, in the host of today.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/pack/pack_loader.hpp"

namespace onedim {
namespace {

class PackOfRelease10 : public testing::Test {
 protected:
  PackOfRelease10() {
    LoadOptions options;
    options.paths = {std::filesystem::path(ONEDIM_ABI_PACKS) / "v1_0.so"};
    reports_ = load_packs(options, registry_);
    op_ = registry_.find("v1_0.scale");
  }
  void SetUp() override {
    ASSERT_EQ(reports_.size(), 1u);
    ASSERT_TRUE(reports_[0].verdict.ok()) << reports_[0].verdict.reason;
    ASSERT_NE(op_, nullptr);
  }
  CallText call(std::string_view text) const { return parse_call(op_->schema, text).value(); }

  Registry registry_;
  std::vector<PackReport> reports_;
  const Op* op_ = nullptr;
};

Tensor tensor(std::initializer_list<float> values) {
  Tensor result = Tensor::zeros(DType::kF32, {static_cast<int64_t>(values.size())});
  std::memcpy(result.data(), std::data(values), values.size() * sizeof(float));
  return result;
}

std::vector<float> values_of(const Tensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.element_count()));
  std::memcpy(values.data(), tensor.data(), values.size() * sizeof(float));
  return values;
}

TEST_F(PackOfRelease10, DescribesItself) {
  EXPECT_EQ(reports_[0].name, "v1_0");
  EXPECT_EQ(reports_[0].version, "1.0.0");
  EXPECT_EQ(reports_[0].abi, "1.0");
  EXPECT_EQ(op_->summary, "self * factor");
  EXPECT_EQ(op_->samples().value(),
            (std::vector<std::string>{"f32[4,6]", "f32[5]; factor=3", "f32[3]; factor=-1.5"}));
}

TEST_F(PackOfRelease10, Infers) {
  const auto outputs = op_->infer(call("f32[4,6]").call);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(format_meta(outputs->at(0)->meta), "f32[4,6]");
  const auto refused = op_->infer(call("f64[4,6]").call);
  EXPECT_NE(std::string(refused.status().message()).find("scale takes f32 only"),
            std::string::npos);
}

TEST_F(PackOfRelease10, EmitsRules) {
  const CallText text = call("f32[4,6]");
  const auto rules = op_->declared_rules(text.call, op_->infer(text.call).value());
  ASSERT_TRUE(rules.ok()) << rules.status();
  std::vector<std::string> texts;
  for (const Rule& rule : *rules) texts.push_back(format_rule(rule));
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(texts, (std::vector<std::string>{"P(avg) | P(avg)", "P(sum) | P(sum)", "S*(0) | S*(0)",
                                             "S*(1) | S*(1)"}));
  const auto with_tag = [&](uint64_t tag) {
    return std::count_if(rules->begin(), rules->end(),
                         [&](const Rule& rule) { return rule.tag == tag; });
  };
  EXPECT_EQ(with_tag(7), 2);
  EXPECT_EQ(with_tag(9), 1);
}

TEST_F(PackOfRelease10, Computes) {
  Tensor self = tensor({1, -2, 3});
  Tensor* inputs[] = {&self};
  const auto outputs = run_op(*op_, call("f32[3]; factor=1.5").call, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(values_of(*outputs->at(0)), (std::vector<float>{1.5f, -3.f, 4.5f}));
}

TEST_F(PackOfRelease10, Refuses) {
  const CallText text = call("f32[1,1,1,1]");
  const Status status = op_->accept_local(text.call, op_->infer(text.call).value(), nullptr);
  EXPECT_NE(std::string(status.message()).find("at most three dims"), std::string::npos) << status;
}

TEST_F(PackOfRelease10, CombinesStates) {
  const PartialKind* kind = registry_.find_partial_kind("v1_0.max_sumexp");
  ASSERT_NE(kind, nullptr);
  std::vector<Tensor> into = {tensor({9, 9}), tensor({9, 9})};
  ASSERT_TRUE(kind->identity(into).ok());
  const std::vector<Tensor> first = {tensor({1, -INFINITY}), tensor({2, 0})};
  const std::vector<Tensor> second = {tensor({1, 4}), tensor({3, 5})};
  ASSERT_TRUE(kind->combine(into, first).ok());
  ASSERT_TRUE(kind->combine(into, second).ok());
  EXPECT_EQ(values_of(into[0]), (std::vector<float>{1, 4}));
  EXPECT_EQ(values_of(into[1]), (std::vector<float>{5, 5}));
}

}  // namespace
}  // namespace onedim
