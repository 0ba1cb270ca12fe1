#include "core/pack/abi_bridge.hpp"

#include <gtest/gtest.h>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::fails_with;

TEST(AbiCall, EveryTypeOfAttributeCrosses) {
  const Schema schema = *parse_schema(
      "x(Tensor a, Tensor b, bool flag, int count, float ratio, complex z, str mode, ScalarType "
      "dtype, int[] sizes, "
      "float[]? none=None, Scalar[] mixed=[]) -> Tensor");
  const Result<CallText> text = parse_call(schema,
                                           "f32[2,3]; b=2.5; flag=true; count=-7; ratio=inf; "
                                           "z=1+2j; mode=\"a b\"; dtype=bf16; sizes=[4,-1]; "
                                           "mixed=[1,0.5,true]");
  ASSERT_TRUE(text.ok()) << text.status();
  const AbiCall abi(text->call, {}, nullptr);
  const onedim_call_t* call = abi.get();
  EXPECT_EQ(from_text(call->op), "x");
  ASSERT_EQ(call->input_count, 1u);
  EXPECT_EQ(call->inputs[0].shape[1], 3);
  EXPECT_EQ(call->inputs[0].strides[0], 3);
  EXPECT_EQ(call->inputs[0].data, nullptr);
  EXPECT_EQ(call->arguments[1].first_slot, -1);
  EXPECT_EQ(from_text(call->arguments[2].name), "flag");
  EXPECT_EQ(call->location, nullptr);
  const auto value = [&](std::string_view name) { return *tiny::attribute(call, name); };
  EXPECT_EQ(value("b").real, 2.5);
  EXPECT_EQ(value("flag").kind, ONEDIM_VALUE_BOOL);
  EXPECT_EQ(value("count").integer, -7);
  EXPECT_GT(value("ratio").real, 1e300);
  EXPECT_EQ(value("z").imaginary, 2);
  EXPECT_EQ(from_text(value("mode").text), "a b");
  EXPECT_EQ(value("dtype").integer, ONEDIM_DTYPE_BF16);
  ASSERT_EQ(value("sizes").item_count, 2u);
  EXPECT_EQ(value("sizes").items[1].integer, -1);
  EXPECT_EQ(value("none").kind, ONEDIM_VALUE_NONE);
  EXPECT_EQ(value("mixed").items[2].kind, ONEDIM_VALUE_BOOL);
}

TEST(CallbackScope, NestsAndForgets) {
  CallbackScope outer;
  set_callback_error(to_text("outer"));
  {
    const CallbackScope inner;
    EXPECT_TRUE(
        fails_with(inner.finish(1, "op", "infer", "p"), "op: infer returned 1 without saying why"));
    EXPECT_TRUE(inner.finish(0, "op", "infer", "p").ok());
  }
  EXPECT_TRUE(
      fails_with(outer.finish(ONEDIM_STATUS_UNIMPLEMENTED, "op", "infer", "p"), "op: outer"));
  set_callback_error({nullptr, 4});
  EXPECT_TRUE(
      fails_with(outer.finish(1, "op", "infer", "p"), "the error's text has a null pointer"));
}

}  // namespace
}  // namespace onedim
