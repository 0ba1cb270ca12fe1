#include "core/pack/foreign_call.hpp"

#include <gtest/gtest.h>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

class ForeignCalls : public testing::Test {
 protected:
  void SetUp() override { set_foreign_call_place(&place_); }
  void TearDown() override { set_foreign_call_place(nullptr); }
  std::string_view running() const { return place_.data(); }

  ForeignCallText place_{};
};

TEST_F(ForeignCalls, AreNamedWhileTheyRunAndTheOuterAgainBehindAnInner) {
  EXPECT_EQ(running(), "");
  {
    const ForeignCall outer("tiny", "the init");
    EXPECT_EQ(running(), "pack tiny, the init");
    {
      const ForeignCall inner("other", "the kernel", "tiny.copy");
      EXPECT_EQ(running(), "pack other, the kernel of op tiny.copy");
    }
    EXPECT_EQ(running(), "pack tiny, the init");
  }
  EXPECT_EQ(running(), "");
}

TEST_F(ForeignCalls, LongNamesAreCut) {
  const ForeignCall running_now(std::string(1000, 'x'), "the init");
  EXPECT_EQ(running().size(), place_.size() - 1);
}

TEST_F(ForeignCalls, AKernelSaysSoItself) {
  tiny::TinyPack pack;
  tiny::TinyOp& op = pack.op("tiny.copy(Tensor x) -> Tensor");
  op.infer = tiny::infer_same;
  std::string seen;
  pack.kernel("tiny.copy").compute = [&](auto, const onedim_call_t* call, auto) {
    seen = running();
    tiny::set(call->outputs[0], 0, tiny::get(call->inputs[0], 0));
    return ONEDIM_OK;
  };
  const Registry registry = tiny::commit(pack);
  const Op& copy = *registry.find("tiny.copy");
  Tensor x = tiny::tensor_of(DType::kF32, {1}, {1});
  Tensor* const inputs[] = {&x};
  ASSERT_TRUE(run_op(copy, tiny::call_of(copy, "f32[1]"), inputs).ok());
  EXPECT_EQ(seen, "pack tiny, the kernel of op tiny.copy");
  EXPECT_EQ(running(), "");
}

TEST(ForeignCall, WithoutAPlaceSaysNothing) { const ForeignCall running("tiny", "the init"); }

}  // namespace
}  // namespace onedim
