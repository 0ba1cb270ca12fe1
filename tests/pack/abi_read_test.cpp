#include "core/pack/abi_read.hpp"

#include <gtest/gtest.h>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::fails_with;
using tiny::text_of;

TEST(AbiRead, TextsMustBeUtf8) {
  for (const std::string_view good : {"", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    EXPECT_EQ(*read_text(text_of(good), "t"), good);
  }
  for (const std::string_view bad : {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80",
                                     "\xf4\x90\x80\x80", "\xc3", "a\xff", "\xf8\x88\x80\x80\x80"}) {
    EXPECT_TRUE(fails_with(read_text(text_of(bad), "t"), "t is not UTF-8 at byte"));
  }
  EXPECT_TRUE(fails_with(read_text({nullptr, 1}, "t"), "t has a null pointer"));
  EXPECT_TRUE(
      fails_with(read_text({"x", 1u << 20}, "t"), "t has 1048576 bytes, expected at most 65536"));
}

TEST(AbiRead, PlacementsAreChecked) {
  onedim_placement_t placement{};
  placement.kind = ONEDIM_PLACEMENT_STRIDED_SHARD;
  placement.dim = 1;
  placement.split_factor = 4;
  EXPECT_EQ(*read_placement(placement), Placement::strided_shard(1, 4));
  placement.split_factor = 0;
  EXPECT_TRUE(fails_with(read_placement(placement), "split_factor is 0"));
  placement.dim = -1;
  EXPECT_TRUE(fails_with(read_placement(placement), "dim is -1, expected 0 to 63"));
  placement = {};
  placement.kind = 17;
  EXPECT_TRUE(fails_with(read_placement(placement), "no placement kind 17"));
  placement.kind = ONEDIM_PLACEMENT_PARTIAL;
  placement.partial = text_of("median");
  EXPECT_TRUE(fails_with(read_placement(placement), "partial kind \"median\" is neither"));
  placement.partial = text_of("tiny.pair");
  placement.component = 1;
  EXPECT_EQ(*read_placement(placement), Placement::make_partial("tiny.pair", 1));
}

TEST(AbiRead, RulesAreChecked) {
  EXPECT_TRUE(fails_with(read_rule(nullptr), "null pointer"));
  onedim_rule_t rule{};
  EXPECT_TRUE(fails_with(read_rule(&rule), "rule.struct_size is 0"));
  rule.struct_size = sizeof(rule);
  EXPECT_TRUE(read_rule(&rule).ok());
  rule.input_count = 3;
  EXPECT_TRUE(fails_with(read_rule(&rule), "rule.inputs has 3 entries but a null pointer"));
  const onedim_placement_t inputs[3] = {};
  rule.inputs = inputs;
  onedim_requirement_t requirement{0, 3, 0, 0, 2};
  rule.requirements = &requirement;
  rule.requirement_count = 1;
  EXPECT_TRUE(
      fails_with(read_rule(&rule), "requirements[0].slot is 3, but the rule has 3 input slots"));
  requirement.slot = 2;
  requirement.multiple = 0;
  EXPECT_TRUE(fails_with(read_rule(&rule), "multiples of 0 on dim 0"));
  rule.flags = 1u << 9;
  EXPECT_TRUE(fails_with(read_rule(&rule), "rule.flags 0x200 has unknown bits"));
}

TEST(AbiRead, Names) {
  EXPECT_TRUE(is_op_name("add_.Tensor"));
  EXPECT_TRUE(is_op_name("_softmax"));
  EXPECT_FALSE(is_op_name("add-1"));
  EXPECT_FALSE(is_op_name(""));
  EXPECT_TRUE(is_pack_name("my_pack2"));
  EXPECT_FALSE(is_pack_name("2pack"));
  EXPECT_FALSE(is_pack_name("Pack"));
  EXPECT_TRUE(is_kind_name("pack.kind"));
  EXPECT_FALSE(is_kind_name("pack.kind.more"));
  EXPECT_FALSE(is_kind_name("pack."));
}

}  // namespace
}  // namespace onedim
