#include "core/cost/counted_ops.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(CountedOps, TheTableThatCameWithOnedim) {
  const Result<CountedOps> ops = CountedOps::load();
  ASSERT_TRUE(ops.ok()) << ops.status();
  EXPECT_TRUE(ops->has("mm"));
  EXPECT_TRUE(ops->has("einsum"));
  EXPECT_FALSE(ops->has("add.Tensor"));
  EXPECT_FALSE(ops->has("embedding"));
}

TEST(CountedOps, DamagedTablesAreToldByLine) {
  const auto fault = [](std::string_view text) {
    return std::string(message_of(CountedOps::parse(text, "ops.toml").status()));
  };
  EXPECT_EQ(CountedOps::parse("counts_flops = [\"a\", \"b\"]", "ops.toml")->size(), 2u);
  EXPECT_EQ(fault("counts = []"), "ops.toml:1: unknown key \"counts\", expected counts_flops");
  EXPECT_EQ(fault("counts_flops = [\n\"a\",\n3]"),
            "ops.toml:3: counts_flops: expected names of ops");
  EXPECT_EQ(fault("counts_flops = [\"a\",\n\"a\"]"), "ops.toml:2: a stands there twice");
  EXPECT_TRUE(fault("").ends_with("counts_flops is missing"));
  EXPECT_TRUE(fault("\ncounts_flops = [").starts_with("ops.toml:2: "));
}

}  // namespace
}  // namespace onedim
