// Every row of the failure table: a folder with a good pack before and one behind the bad one gives
// the bad one its verdict and loads the others.

#include <gtest/gtest.h>

#include "tests/pack/gallery.hpp"

namespace onedim {
namespace {

struct Sin {
  const char* pack;
  const char* status;
  const char* reason;  // a part of it
};

std::ostream& operator<<(std::ostream& stream, const Sin& sin) { return stream << sin.pack; }

// `files` holds alpha and zulu, and everything about one of the others is as `sin` says.
void expect_sin(const std::vector<PackReport>& reports, const Sin& sin, const Registry& registry) {
  const PackReport* report = find_report(reports, std::string(sin.pack) + ".so");
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(verdict_text(report->verdict.word), sin.status) << report->verdict.reason;
  EXPECT_NE(report->verdict.reason.find(sin.reason), std::string::npos) << report->verdict.reason;
  EXPECT_EQ(report->verdict.reason.find('\n'), std::string::npos) << report->verdict.reason;
  EXPECT_EQ(status_of(reports, "alpha.so"), "loaded");
  EXPECT_EQ(status_of(reports, "zulu.so"), "loaded");
  EXPECT_NE(registry.find("alpha.copy"), nullptr);
  EXPECT_NE(registry.find("zulu.copy"), nullptr);
}

class Gallery : public testing::TestWithParam<Sin> {};

TEST_P(Gallery, IsJudgedAndTheOthersLoad) {
  ScratchFolder folder;
  for (const char* name : {"alpha", GetParam().pack, "zulu"}) folder.add(name);
  Registry registry;
  const std::vector<PackReport> reports = load_packs(probing({folder.path()}), registry);
  EXPECT_EQ(reports.size(), 3u);
  expect_sin(reports, GetParam(), registry);
  const PackReport* report = find_report(reports, std::string(GetParam().pack) + ".so");
  if (std::string(GetParam().status) == "missing-dependency") return;  // what it has stays
  EXPECT_EQ(report->op_count, 0);
  EXPECT_EQ(registry.ops().size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    Loader, Gallery,
    testing::Values(
        Sin{"no_note", "not-a-plugin", "onedim_add_pack"},
        Sin{"no_entry", "not-a-plugin", "onedim_pack_v1"},
        Sin{"other_major", "incompatible",
            "built for pack abi 2.3, this host has " ONEDIM_ABI_RELEASE},
        Sin{"newer_host", "needs-newer-host", ".98"},
        Sin{"other_target", "wrong-arch", "mips64-linux-gnu"},
        Sin{"two_versions", "bad-descriptor", "its note says"},
        Sin{"foreign_entry", "entry-foreign", "onedim_pack_v1"},
        Sin{"unresolved", "unresolved", "unresolved: gallery_nobody_defines_this"},
        Sin{"missing_library", "unavailable", "libgallery_absent_device.so"},
        Sin{"no_device", "unavailable", "no such device here"},
        Sin{"constructor_aborts", "crashed-at-load", "Aborted"},
        Sin{"init_crashes", "crashed-at-load", "Segmentation fault"},
        Sin{"init_exits", "crashed-at-load", "ended with code 7"},
        Sin{"init_hangs", "timeout", "2000 ms"}, Sin{"constructor_hangs", "timeout", "2000 ms"},
        Sin{"init_throws", "plugin-fault", "no luck today"},
        Sin{"init_throws_raw", "plugin-fault", "throws"}, Sin{"silent_failure", "plugin-fault", ""},
        Sin{"told_failure", "plugin-fault", "the table has no row 7"},
        Sin{"null_infer", "bad-descriptor", "infer"}, Sin{"null_text", "bad-descriptor", ""},
        Sin{"absurd_count", "bad-descriptor", ""}, Sin{"bad_op_name", "bad-descriptor", "co-py"},
        Sin{"bad_schema", "bad-descriptor", "Tensor self"}, Sin{"bad_rule", "bad-descriptor", ""},
        Sin{"wrapper_bad_schema", "bad-descriptor", "Tensor self"},
        Sin{"not_utf8", "bad-descriptor", "UTF-8"}, Sin{"small_struct", "bad-descriptor", ""},
        Sin{"third_is_bad", "bad-descriptor", "Banana"},
        Sin{"bad_pack_name", "bad-descriptor", "name"}, Sin{"null_init", "bad-descriptor", "init"},
        Sin{"small_entry", "bad-descriptor", "struct_size"},
        Sin{"missing_dependency", "missing-dependency", "nobody.declares_this"}),
    [](const auto& tested) { return std::string(tested.param.pack); });

// Files that no compiler makes, laid beside two good packs.
std::vector<PackReport> load_beside_good(const ScratchFolder& folder, Registry& registry) {
  folder.add("alpha");
  folder.add("zulu");
  return load_packs(probing({folder.path()}), registry);
}

TEST(GalleryFiles, TextEmptyAndGarbageAreNoPlugins) {
  ScratchFolder folder;
  write_text(folder.path() / "text.so", "not a library\n");
  write_text(folder.path() / "empty.so", "");
  write_text(folder.path() / "garbage.so", std::string(9000, '\x9c'));
  Registry registry;
  const auto reports = load_beside_good(folder, registry);
  expect_sin(reports, {"text", "not-a-plugin", "not an ELF file"}, registry);
  expect_sin(reports, {"empty", "not-a-plugin", "empty"}, registry);
  expect_sin(reports, {"garbage", "not-a-plugin", "not an ELF file"}, registry);
}

TEST(GalleryFiles, ALibraryCutShortIsTruncated) {
  ScratchFolder folder;
  const std::string whole = read_text(gallery_pack("noisy"));
  write_text(folder.path() / "cut.so", whole.substr(0, 3000));
  write_text(folder.path() / "nearly.so", whole.substr(0, whole.size() - 1));
  Registry registry;
  const auto reports = load_beside_good(folder, registry);
  expect_sin(reports, {"cut", "truncated", "3000"}, registry);
  expect_sin(reports, {"nearly", "truncated", ""}, registry);
}

TEST(GalleryFiles, OtherMachinesAreWrongArch) {
  ScratchFolder folder;
  std::string bytes = read_text(gallery_pack("noisy"));
  bytes[4] = 1;  // ELFCLASS32
  write_text(folder.path() / "narrow.so", bytes);
  bytes[4] = 2;
  bytes[18] = 40;  // EM_ARM
  bytes[19] = 0;
  write_text(folder.path() / "arm.so", bytes);
  Registry registry;
  const auto reports = load_beside_good(folder, registry);
  expect_sin(reports, {"narrow", "wrong-arch", "32-bit"}, registry);
  expect_sin(reports, {"arm", "wrong-arch", "arm"}, registry);
}

TEST(GalleryFiles, WhatCannotBeReadIsReported) {
  ScratchFolder folder;
  std::filesystem::create_directory(folder.path() / "folder.so");
  std::filesystem::create_symlink(folder.path() / "gone", folder.path() / "dangling.so");
  Registry registry;
  const auto reports = load_beside_good(folder, registry);
  expect_sin(reports, {"folder", "unreadable", "not a regular file"}, registry);
  expect_sin(reports, {"dangling", "unreadable", "No such file"}, registry);
}

TEST(GalleryFiles, AllSinnersInOneFolder) {
  ScratchFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(ONEDIM_GALLERY)) {
    const std::string name = entry.path().filename().string();
    if (name != "libraries") folder.add(name);
  }
  Registry registry;
  LoadOptions options = probing({folder.path()});
  options.probe_deadline = std::chrono::milliseconds(1500);
  const auto reports = load_packs(options, registry);
  for (const char* good :
       {"alpha", "crashes_later", "first_claim", "leaves_thread", "noisy", "slow", "zulu"}) {
    EXPECT_EQ(status_of(reports, std::string(good) + ".so"), "loaded") << good;
  }
  EXPECT_EQ(status_of(reports, "second_claim.so"), "duplicate");
  EXPECT_EQ(status_of(reports, "constructor_aborts.so"), "crashed-at-load");
  EXPECT_EQ(status_of(reports, "init_hangs.so"), "timeout");
}

}  // namespace
}  // namespace onedim
