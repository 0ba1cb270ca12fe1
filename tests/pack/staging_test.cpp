#include "core/pack/staging.hpp"

#include <gtest/gtest.h>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::fails_with;
using tiny::TinyOp;
using tiny::TinyPack;

TinyPack sound_pack() {
  TinyPack pack;
  TinyOp& op = pack.op("tiny.copy(Tensor x) -> Tensor");
  op.infer = tiny::infer_same;
  op.rule_table = {"S*(0) | S*(0)", "P(sum) | P(sum)"};
  op.sample_table = {"f32[4]", "f64[2,3]:positive"};
  return pack;
}

int32_t zero_identity(const onedim_host_t*, void*, const onedim_tensor_t*) noexcept {
  return ONEDIM_OK;
}
int32_t no_combine(const onedim_host_t*, void*, const onedim_tensor_t*,
                   const onedim_tensor_t*) noexcept {
  return ONEDIM_OK;
}
int32_t no_state(const onedim_host_t*, void*, const onedim_call_t*, onedim_sink_t*) noexcept {
  return ONEDIM_OK;
}

const onedim_text_t kComponents[] = {tiny::text_of("max"), tiny::text_of("sum")};

onedim_partial_kind_t sound_kind() {
  onedim_partial_kind_t kind{};
  kind.struct_size = sizeof(kind);
  kind.name = tiny::text_of("tiny.pair");
  kind.revision = 3;
  kind.components = kComponents;
  kind.component_count = 2;
  kind.output_count = 2;
  kind.identity = zero_identity;
  kind.combine = no_combine;
  return kind;
}

TEST(Staging, CopiesWhatAPackRegisters) {
  TinyPack pack = sound_pack();
  pack.kernel("tiny.copy");
  pack.kinds.push_back(sound_kind());
  const Result<StagedPack> staged = pack.stage("/packs/tiny.so");
  ASSERT_TRUE(staged.ok()) << staged.status();
  EXPECT_EQ(staged->name, "tiny");
  EXPECT_EQ(staged->version, "1.0.0");
  EXPECT_EQ(staged->path, "/packs/tiny.so");
  ASSERT_EQ(staged->ops.size(), 1u);
  EXPECT_EQ(staged->ops[0]->rule_table.size(), 2u);
  EXPECT_EQ(staged->ops[0]->pack, "tiny");
  ASSERT_EQ(staged->kernels.size(), 1u);
  EXPECT_EQ(staged->kernels[0].first, "tiny.copy");
  ASSERT_EQ(staged->partial_kinds.size(), 1u);
  EXPECT_EQ(staged->partial_kinds[0]->components[1], "sum");
  EXPECT_EQ(staged->partial_kinds[0]->revision, 3u);
}

TEST(Staging, HostTableIsComplete) {
  const onedim_host_t& host = host_table();
  EXPECT_EQ(host.struct_size, sizeof(host));
  EXPECT_EQ(host.abi_major, static_cast<uint32_t>(ONEDIM_ABI_MAJOR));
  EXPECT_EQ(host.find_interface(&host, tiny::text_of("onedim.trace/1")), nullptr);
  EXPECT_EQ(host.register_op(nullptr, nullptr), ONEDIM_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(host.emit_output(nullptr, nullptr), ONEDIM_STATUS_INVALID_ARGUMENT);
  host.set_error(&host, ONEDIM_STATUS_INTERNAL, tiny::text_of("outside of a callback: ignored"));
}

TEST(Staging, RefusesBadEntries) {
  const auto stage_with = [](std::function<void(onedim_pack_t&)> tweak) {
    TinyPack pack = sound_pack();
    pack.tweak = std::move(tweak);
    return pack.stage();
  };
  EXPECT_TRUE(fails_with(stage_with([](auto& p) { p.struct_size = 8; }), "pack.struct_size is 8"));
  EXPECT_TRUE(
      fails_with(stage_with([](auto& p) { p.name = tiny::text_of("Tiny"); }), "no word of a-z"));
  EXPECT_TRUE(fails_with(stage_with([](auto& p) { p.name = {nullptr, 3}; }), "null pointer"));
  EXPECT_TRUE(fails_with(stage_with([](auto& p) {
                           p.name = {"x", uint64_t{1} << 60};
                         }),
                         "expected at most"));
  EXPECT_TRUE(fails_with(stage_with([](auto& p) {
                           p.version = {nullptr, 0};
                         }),
                         "expected 1 to 128"));
  EXPECT_TRUE(
      fails_with(stage_with([](auto& p) { p.init = nullptr; }), "init of pack tiny is null"));
}

TEST(Staging, RefusesBadOps) {
  const std::pair<std::function<void(onedim_op_t&)>, std::string_view> cases[] = {
      {[](auto& op) { op.struct_size = 16; }, "register_op: op.struct_size is 16"},
      {[](auto& op) {
         op.schema = {nullptr, 5};
       },
       "schema has a null pointer"},
      {[](auto& op) { op.schema = tiny::text_of("tiny.copy(Tensor x -> Tensor"); },
       "register_op: schema"},
      {[](auto& op) { op.schema = tiny::text_of("tiny.\xff(Tensor x) -> Tensor"); },
       "is not UTF-8 at byte 5"},
      {[](auto& op) {
         op.summary = {"a\0b", 3};
       },
       "op tiny.copy: summary has a zero byte"},
      {[](auto& op) { op.infer = nullptr; }, "op tiny.copy: infer is null"},
      {[](auto& op) { op.flags = 1u << 20; }, "flags 0x100000 has unknown bits"},
      {[](auto& op) { op.rule_table_count = uint64_t{1} << 40; },
       "rule_table has 1099511627776 entries"},
      {[](auto& op) { op.rule_table = nullptr; }, "rule_table has 2 entries but a null pointer"},
      {[](auto& op) { op.sample_table = nullptr; },
       "sample_table has 2 entries but a null pointer"},
      {[](auto& op) { op.example = tiny::text_of("f32[4"); }, "example: "},
      {[](auto& op) { op.variant_of = tiny::text_of("tiny.other"); },
       "neither marks an argument as written"},
      {[](auto& op) { op.gradient_op_count = 1; }, "gradient_ops has 1 entries but a null pointer"},
  };
  for (const auto& [tweak, part] : cases) {
    TinyPack pack = sound_pack();
    pack.ops[0].tweak = tweak;
    EXPECT_TRUE(fails_with(pack.stage(), part));
  }
}

TEST(Staging, RefusesBadTables) {
  const auto stage_with = [](std::vector<std::string> rules, std::vector<std::string> samples) {
    TinyPack pack = sound_pack();
    pack.ops[0].rule_table = std::move(rules);
    pack.ops[0].sample_table = std::move(samples);
    return pack.stage();
  };
  EXPECT_TRUE(fails_with(stage_with({"R | R", "R R"}, {}), "op tiny.copy: rule_table[1] \"R R\""));
  EXPECT_TRUE(
      fails_with(stage_with({"R | R, R"}, {}), "2 input placements, but the schema has 1 tensors"));
  EXPECT_TRUE(
      fails_with(stage_with({"R, R | R"}, {}), "2 output placements, but the schema returns 1"));
  EXPECT_TRUE(fails_with(stage_with({"P(summ) | R"}, {}), "rule_table[0]"));
  EXPECT_TRUE(
      fails_with(stage_with({}, {"f32[4]", "f32[4]; f32[4]"}), "op tiny.copy: sample_table[1]"));
}

TEST(Staging, RefusesBadSizeAttributes) {
  const auto stage_with = [](onedim_size_attribute_t size) {
    TinyPack pack;
    TinyOp& op = pack.op("tiny.view(Tensor x, int[] size, float scale=1) -> Tensor");
    op.infer = tiny::infer_same;
    op.sizes = {size};
    return pack.stage();
  };
  EXPECT_TRUE(stage_with({tiny::text_of("size"), 0, 0}).ok());
  EXPECT_TRUE(fails_with(stage_with({tiny::text_of("sizes"), 0, 0}), "did you mean \"size\"?"));
  EXPECT_TRUE(fails_with(stage_with({tiny::text_of("scale"), 0, 0}), "is no integer argument"));
  EXPECT_TRUE(fails_with(stage_with({tiny::text_of("size"), 1, 0}),
                         "output_slot is 1, but the schema returns 1"));
  EXPECT_TRUE(fails_with(stage_with({tiny::text_of("size"), 0, -1}), "first_dim is -1"));
}

TEST(Staging, RefusesBadKernels) {
  const std::pair<std::function<void(onedim_kernel_t&)>, std::string_view> cases[] = {
      {[](auto& kernel) { kernel.struct_size = 0; }, "register_kernel: kernel.struct_size is 0"},
      {[](auto& kernel) { kernel.op = tiny::text_of("a b"); }, "\"a b\" is no op name"},
      {[](auto& kernel) { kernel.device = 7; }, "there is no device 7"},
      {[](auto& kernel) { kernel.dtypes = 0; }, "dtypes 0x0 has no bit or unknown ones"},
      {[](auto& kernel) { kernel.dtypes = 1u << ONEDIM_DTYPE_COUNT; }, "unknown ones"},
      {[](auto& kernel) { kernel.compute = nullptr; }, "compute is null"},
  };
  for (const auto& [tweak, part] : cases) {
    TinyPack pack = sound_pack();
    pack.kernel("tiny.copy").tweak = tweak;
    EXPECT_TRUE(fails_with(pack.stage(), part));
  }
}

TEST(Staging, RefusesBadPartialKinds) {
  const std::pair<std::function<void(onedim_partial_kind_t&)>, std::string_view> cases[] = {
      {[](auto& kind) { kind.struct_size = 4; }, "kind.struct_size is 4"},
      {[](auto& kind) { kind.name = tiny::text_of("pair"); }, "its name must be \"tiny.\""},
      {[](auto& kind) { kind.name = tiny::text_of("other.pair"); }, "its name must be \"tiny.\""},
      {[](auto& kind) { kind.component_count = 0; }, "component_count is 0"},
      {[](auto& kind) { kind.output_count = 99; }, "output_count is 99"},
      {[](auto& kind) { kind.identity = nullptr; }, "identity is null"},
      {[](auto& kind) { kind.combine = nullptr; }, "combine is null"},
      {[](auto& kind) { kind.components = nullptr; },
       "components has 2 entries but a null pointer"},
      {[](auto& kind) { kind.output_count = 1; },
       "state is null, so the 2 components must be the 1 outputs"},
      {[](auto& kind) { kind.output_count = 1, kind.state = no_state; }, "finish is null"},
  };
  for (const auto& [tweak, part] : cases) {
    TinyPack pack = sound_pack();
    pack.kinds.push_back(sound_kind());
    tweak(pack.kinds[0]);
    EXPECT_TRUE(fails_with(pack.stage(), part));
  }
}

TEST(Staging, OneBadRegistrationFailsThePackEvenIfInitIgnoresIt) {
  TinyPack pack = sound_pack();
  pack.more = [](const onedim_host_t* host, onedim_registrar_t* registrar) {
    onedim_op_t bad{};
    EXPECT_EQ(host->register_op(registrar, &bad), ONEDIM_STATUS_INVALID_ARGUMENT);
    EXPECT_EQ(host->register_op(registrar, nullptr), ONEDIM_STATUS_INVALID_ARGUMENT);
    return ONEDIM_OK;
  };
  EXPECT_TRUE(fails_with(pack.stage(), "op.struct_size is 0"));
}

TEST(Staging, RefusesTheSameIdTwice) {
  TinyPack pack = sound_pack();
  pack.op("tiny.copy(Tensor x) -> Tensor").infer = tiny::infer_same;
  EXPECT_TRUE(fails_with(pack.stage(), "op tiny.copy is registered twice"));
  TinyPack kernels = sound_pack();
  kernels.kernel("tiny.copy");
  kernels.kernel("tiny.copy");
  EXPECT_TRUE(fails_with(kernels.stage(), "a second kernel of op tiny.copy for device 0"));
  TinyPack kinds = sound_pack();
  kinds.kinds = {sound_kind(), sound_kind()};
  EXPECT_TRUE(fails_with(kinds.stage(), "partial kind tiny.pair is registered twice"));
}

TEST(Staging, InitThatFailsSaysWhyOrIsAtFault) {
  TinyPack silent = sound_pack();
  silent.more = [](const onedim_host_t*, onedim_registrar_t*) {
    return int32_t{ONEDIM_STATUS_UNIMPLEMENTED};
  };
  const Result<StagedPack> fault = silent.stage();
  EXPECT_TRUE(fails_with(fault, "tiny: init returned 2 without saying why, a fault of pack tiny"));
  EXPECT_EQ(fault.status().code(), absl::StatusCode::kInternal);
  TinyPack polite = sound_pack();
  polite.more = [](const onedim_host_t* host, onedim_registrar_t*) {
    return tiny::refuse(host, ONEDIM_STATUS_FAILED_PRECONDITION, "no device");
  };
  const Result<StagedPack> refused = polite.stage();
  EXPECT_TRUE(fails_with(refused, "tiny: no device"));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  TinyPack odd = sound_pack();
  odd.more = [](const onedim_host_t*, onedim_registrar_t*) { return int32_t{-9}; };
  EXPECT_TRUE(fails_with(odd.stage(), "returned -9"));
}

TEST(Staging, VariantsHaveNothingOfTheirOwn) {
  TinyPack pack = sound_pack();
  TinyOp& op = pack.op("tiny.copy_(Tensor(a!) x) -> Tensor(a!)");
  op.variant_of = "tiny.copy";
  EXPECT_TRUE(pack.stage().ok());
  op.infer = tiny::infer_same;
  EXPECT_TRUE(fails_with(pack.stage(), "whose callbacks and tables it shares; it has its own"));
  op.infer = nullptr;
  op.variant_of = "tiny.copy_";
  EXPECT_TRUE(fails_with(pack.stage(), "is not the name of another op"));
}

}  // namespace
}  // namespace onedim
