#include "core/pack/registry.hpp"

#include <gtest/gtest.h>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::fails_with;
using tiny::TinyPack;

TinyPack pack_with(std::string name, std::vector<std::string> ops) {
  TinyPack pack;
  pack.name = std::move(name);
  for (const std::string& op : ops) pack.op(op + "(Tensor x) -> Tensor").infer = tiny::infer_same;
  return pack;
}

Status commit(Registry& registry, TinyPack& pack) {
  Result<StagedPack> staged = pack.stage("/packs/" + pack.name + ".so");
  return staged.ok() ? registry.commit(*std::move(staged)) : staged.status();
}

TEST(Registry, FindsOpsByNameSorted) {
  Registry registry;
  TinyPack pack = pack_with("tiny", {"tiny.b", "tiny.a"});
  ASSERT_TRUE(commit(registry, pack).ok());
  EXPECT_EQ(registry.op_names(), (std::vector<std::string>{"tiny.a", "tiny.b"}));
  ASSERT_NE(registry.find("tiny.a"), nullptr);
  EXPECT_EQ(registry.find("tiny.c"), nullptr);
  EXPECT_EQ(*registry.find_pack_path("tiny"), "/packs/tiny.so");
}

TEST(Registry, TheEarlierPackStaysWhenNamesClash) {
  Registry registry;
  TinyPack first = pack_with("first", {"x.a"});
  TinyPack second = pack_with("second", {"x.b", "x.a"});
  ASSERT_TRUE(commit(registry, first).ok());
  const Status status = commit(registry, second);
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(fails_with(
      status, "op \"x.a\" of /packs/second.so is already registered by /packs/first.so"));
  EXPECT_EQ(registry.find("x.b"), nullptr);
  EXPECT_EQ(registry.find("x.a")->pack, "first");
  EXPECT_EQ(registry.find_pack_path("second"), nullptr);
  EXPECT_TRUE(fails_with(commit(registry, first), "pack \"first\""));
}

TEST(Registry, KernelsOfOtherPacksAreLinkedByDevice) {
  Registry registry;
  TinyPack kernels = pack_with("device", {});
  kernels.kernel("x.a").device = ONEDIM_DEVICE_CUDA;
  kernels.kernel("x.gone").device = ONEDIM_DEVICE_CPU;
  ASSERT_TRUE(commit(registry, kernels).ok());
  EXPECT_EQ(registry.resolve().size(), 2u);
  TinyPack ops = pack_with("ops", {"x.a"});
  ops.kernel("x.a");
  ASSERT_TRUE(commit(registry, ops).ok());
  const std::vector<std::string> lines = registry.resolve();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], "device: a kernel for op \"x.gone\", which no pack offers");
  EXPECT_EQ(registry.find("x.a")->find_kernel(ONEDIM_DEVICE_CPU)->pack, "ops");
  EXPECT_EQ(registry.find("x.a")->find_kernel(ONEDIM_DEVICE_CUDA)->pack, "device");
  TinyPack again = pack_with("again", {});
  again.kernel("x.a").device = ONEDIM_DEVICE_CUDA;
  EXPECT_TRUE(fails_with(commit(registry, again), "the kernel for op \"x.a\""));
  TinyPack waiting = pack_with("waiting", {});
  waiting.kernel("x.gone");
  EXPECT_TRUE(fails_with(commit(registry, waiting), "the kernel for op \"x.gone\""));
}

TEST(Registry, VariantsAreHiddenUntilTheirPlainOpIsThere) {
  Registry registry;
  TinyPack variant;
  variant.name = "variant";
  variant.op("x.a_(Tensor(a!) x) -> Tensor(a!)").variant_of = "x.a";
  ASSERT_TRUE(commit(registry, variant).ok());
  const std::vector<std::string> lines = registry.resolve();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], "variant: op \"x.a_\" is a form of \"x.a\", which no pack offers");
  EXPECT_EQ(registry.find("x.a_"), nullptr);
  EXPECT_TRUE(registry.ops().empty());
  TinyPack plain = pack_with("plain", {"x.a"});
  ASSERT_TRUE(commit(registry, plain).ok());
  EXPECT_TRUE(registry.resolve().empty());
  ASSERT_NE(registry.find("x.a_"), nullptr);
  EXPECT_EQ(registry.find("x.a_")->variant, Variant::kInPlace);
  EXPECT_EQ(registry.find("x.a_")->summary, "in-place form of x.a");
}

TEST(Registry, VariantsMustMatchTheirPlainOp) {
  const std::pair<const char*, std::string_view> cases[] = {
      {"x.b_(Tensor(a!) x, Tensor y) -> Tensor(a!)",
       "argument \"y\" is not written and x.a has none of that name"},
      {"x.b_(Tensor(a!)? x) -> ()", "argument \"x\" is Tensor?, but x.a has Tensor"},
      {"x.b_(Tensor(a!) out) -> Tensor(a!)", "x.b_ lacks the argument \"x\" of x.a"},
      {"x.b_(Tensor(a!) x, Tensor(b!) out) -> Tensor(a!)",
       "writes both arguments of x.a and others"},
      {"x.b_(Tensor(a!) x) -> Tensor", "a variant returns its written arguments in their order"},
  };
  for (const auto& [schema, part] : cases) {
    Registry registry;
    TinyPack pack = pack_with("tiny", {"x.a"});
    pack.op(schema).variant_of = "x.a";
    ASSERT_TRUE(commit(registry, pack).ok());
    const std::vector<std::string> lines = registry.resolve();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find(part), std::string::npos) << lines[0];
    EXPECT_EQ(registry.find("x.b_"), nullptr);
  }
}

TEST(Registry, UnknownPartialKindsInRuleTablesAreReported) {
  Registry registry;
  TinyPack pack = pack_with("tiny", {"x.a"});
  pack.ops[0].rule_table = {"P(other.pair) | S(0)", "R | R"};
  ASSERT_TRUE(commit(registry, pack).ok());
  const std::vector<std::string> lines = registry.resolve();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0],
            "tiny: rule \"P(other.pair#0) | S(0)\" of op \"x.a\" names the partial kind "
            "\"other.pair\", which no pack "
            "offers");
}

}  // namespace
}  // namespace onedim
