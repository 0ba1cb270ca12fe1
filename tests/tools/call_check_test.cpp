#include "tools/call_check.hpp"

#include <gtest/gtest.h>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::fails_with;

class CallCheck : public testing::Test {
 protected:
  CallCheck() {
    tiny::TinyOp& op = pack_.op("tiny.outer(Tensor x, Tensor? y) -> Tensor");
    op.infer = [](const onedim_host_t* host, const onedim_call_t* call, onedim_sink_t* sink) {
      const int64_t size = call->inputs[0].shape[0];
      if (size == 13) return tiny::refuse(host, ONEDIM_STATUS_INVALID_ARGUMENT, "not 13");
      return tiny::emit_meta(host, sink, DType::kF32, {size, size});
    };
    registry_ = tiny::commit(pack_);
  }
  Status check(std::string_view call, const std::vector<std::string>& claims = {}) {
    const Op& op = *registry_.find("tiny.outer");
    return check_call(op, tiny::call_of(op, call), claims, registry_);
  }

  tiny::TinyPack pack_;
  Registry registry_;
};

TEST_F(CallCheck, WhatFitsPasses) {
  EXPECT_TRUE(check("f32[4]; -").ok());
  EXPECT_TRUE(check("f32[4]; f32[]", {"S(1) | S(0), R", "P(sum) | R, P(avg)"}).ok());
  EXPECT_TRUE(check("f32[4]; -", {"S(1) | S(0), - even_only multiple_of(output 0, 1, 2)"}).ok());
}

TEST_F(CallCheck, TheOpsRefusalIsPassedOn) {
  EXPECT_TRUE(fails_with(check("f32[13]; -"), "tiny.outer: not 13"));
}

TEST_F(CallCheck, InputsAndOutputsHaveABound) {
  EXPECT_TRUE(fails_with(check("f32[100000000]; -"), "take"));
  EXPECT_TRUE(check("f32[8000]; -").ok());
  EXPECT_TRUE(fails_with(check("f32[9000]; -"), "the tensors of the call take 309 MiB"));
}

TEST_F(CallCheck, ClaimsMustFitSlotsAndDims) {
  for (const auto& [claim, part] : std::vector<std::pair<std::string, std::string>>{
           {"R | R", "1 output and 2 input slots, the rule 1 and 1"},
           {"S(2) | R, -", "output 0: S(2) shards a dim that the tensor f32[4,4] does not have"},
           {"R | S(1), -", "input 0: S(1)"},
           {"R | -, -", "input 0: - stands for the tensor f32[4]"},
           {"R | R, R", "input 1: R stands for an absent tensor"},
           {"P(a.b#0) | R, -", "no pack offers the partial kind a.b"},
           {"R | R, - multiple_of(output 0, 2, 2)", "multiple_of: output 0 has no dim 2"},
           {"R | R, - multiple_of(input 1, 0, 2)", "multiple_of: input 1 has no dim 0"},
           {"R | R, - evn_only", "--claim: "}}) {
    EXPECT_TRUE(fails_with(check("f32[4]; -", {claim}), part)) << claim;
    EXPECT_TRUE(fails_with(check("f32[4]; -", {"R | R, -", claim}), part)) << claim;
  }
}

}  // namespace
}  // namespace onedim
