#include "core/pack/pack_loader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "tests/pack/gallery.hpp"

namespace onedim {
namespace {

namespace fs = std::filesystem;

size_t occurrences(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

LoadOptions plainly(std::vector<fs::path> paths) {
  LoadOptions options;
  options.paths = std::move(paths);
  return options;
}

TEST(PackLoader, ReportsWhatItLoaded) {
  Registry registry;
  const auto reports = load_packs(probing({gallery_pack("alpha")}), registry);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(reports[0].verdict.ok()) << reports[0].verdict.reason;
  EXPECT_EQ(reports[0].name, "alpha");
  EXPECT_EQ(reports[0].version, "1.0");
  EXPECT_EQ(reports[0].abi, ONEDIM_ABI_RELEASE);
  EXPECT_EQ(reports[0].path, gallery_pack("alpha").string());
  EXPECT_EQ(reports[0].op_count, 1);
  ASSERT_NE(registry.find("alpha.copy"), nullptr);
  EXPECT_EQ(registry.find("alpha.copy")->pack, "alpha");
}

TEST(PackLoader, NamesAPackThatCrashes) {
  Registry registry;
  const auto reports = load_packs(probing({gallery_pack("init_crashes")}), registry);
  EXPECT_EQ(reports.at(0).name, "init_crashes");
  EXPECT_EQ(reports.at(0).version, "1.0");
}

TEST(PackLoader, FilesComeInNameOrder) {
  ScratchFolder folder;
  for (const char* name : {"zulu", "noisy", "alpha"}) folder.add(name);
  write_text(folder.path() / "notes.txt", "other files are not looked at");
  write_text(folder.path() / "alpha.so.bak", "nor these");
  Registry registry;
  std::vector<std::string> names;
  for (const PackReport& report : load_packs(plainly({folder.path()}), registry)) {
    names.push_back(fs::path(report.path).filename().string());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"alpha.so", "noisy.so", "zulu.so"}));
}

TEST(PackLoader, MissingExplicitPathIsReported) {
  Registry registry;
  const auto reports = load_packs(probing({"/nowhere/at/all.so"}), registry);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].verdict.word, VerdictWord::kUnreadable);
  EXPECT_EQ(reports[0].path, "/nowhere/at/all.so");
}

TEST(PackLoader, SameFileUnderOtherNamesIsLoadedOnce) {
  ScratchFolder folder;
  const fs::path file = folder.add("alpha");
  fs::create_symlink(file, folder.path() / "beta.so");
  fs::create_hard_link(file, folder.path() / "gamma.so");
  Registry registry;
  const auto reports = load_packs(probing({folder.path(), file}), registry);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(reports[0].verdict.ok());
}

TEST(PackLoader, SameFileLaterIsANoOp) {
  ScratchFolder folder;
  const fs::path file = folder.add("alpha");
  CallLog log;
  Registry registry;
  load_packs(plainly({file}), registry);
  const auto reports = load_packs(plainly({file}), registry);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(reports[0].verdict.ok()) << reports[0].verdict.reason;
  EXPECT_EQ(reports[0].op_count, 1);
  EXPECT_EQ(reports[0].notes, std::vector<std::string>{"already loaded"});
  EXPECT_EQ(log.text(), "init alpha\n");
}

TEST(PackLoader, ACopyIsADuplicateAndBothFilesAreNamed) {
  ScratchFolder folder;
  const fs::path file = folder.add("alpha");
  fs::copy_file(file, folder.path() / "copy.so");
  Registry registry;
  const auto reports = load_packs(probing({folder.path()}), registry);
  EXPECT_EQ(status_of(reports, "alpha.so"), "loaded");
  EXPECT_EQ(status_of(reports, "copy.so"), "duplicate");
  const std::string& reason = find_report(reports, "copy.so")->verdict.reason;
  EXPECT_NE(reason.find("alpha.so"), std::string::npos) << reason;
  EXPECT_NE(reason.find("copy.so"), std::string::npos) << reason;
}

TEST(PackLoader, TheEarlierOfTwoClaimsStays) {
  const fs::path first = gallery_pack("first_claim");
  const fs::path second = gallery_pack("second_claim");
  for (const auto& order : {std::vector{first, second}, std::vector{second, first}}) {
    Registry registry;
    const auto reports = load_packs(probing(order), registry);
    EXPECT_TRUE(reports.at(0).verdict.ok());
    EXPECT_EQ(reports.at(1).verdict.word, VerdictWord::kDuplicate);
    EXPECT_EQ(reports.at(1).op_count, 0);
    for (const fs::path& file : order) {
      EXPECT_NE(reports.at(1).verdict.reason.find(file.string()), std::string::npos)
          << reports.at(1).verdict.reason;
    }
    EXPECT_EQ(registry.find("gallery.claimed")->pack, order[0].stem().string());
    EXPECT_EQ(registry.find(order[1].stem().string() + ".own"), nullptr)
        << "whole packs or nothing";
  }
}

TEST(PackLoader, NothingOfAPackWithABadRegistrationStays) {
  Registry registry;
  const auto reports = load_packs(plainly({gallery_pack("third_is_bad")}), registry);
  EXPECT_EQ(reports.at(0).verdict.word, VerdictWord::kBadDescriptor)
      << reports.at(0).verdict.reason;
  EXPECT_TRUE(registry.ops().empty());
}

TEST(PackLoader, RefusedNotesAreNotOpened) {
  CallLog log;
  Registry registry;
  load_packs(plainly({gallery_pack("newer_host"), gallery_pack("alpha")}), registry);
  EXPECT_EQ(log.text(), "init alpha\n");
}

TEST(PackLoader, DisabledPacksAreNotOpened) {
  ScratchFolder folder;
  folder.add("zulu");
  fs::copy_file(gallery_pack("alpha"), folder.path() / "renamed.so");
  CallLog log;
  Registry registry;
  LoadOptions options = plainly({folder.path()});
  options.disabled = {"alpha", "zulu"};
  const auto reports = load_packs(options, registry);
  EXPECT_EQ(status_of(reports, "zulu.so"), "disabled");
  EXPECT_EQ(status_of(reports, "renamed.so"), "disabled") << "by the pack's own name";
  EXPECT_EQ(log.text(), "");
  EXPECT_TRUE(registry.ops().empty());
}

TEST(PackLoader, DisabledNamesThatAreFoundNowhereAreTold) {
  std::vector<PackReport> reports(2);
  reports[0].name = "matrix";
  reports[0].path = "/packs/renamed.so";
  reports[1].path = "/packs/unread.so";
  EXPECT_EQ(unknown_disabled({"matrix", "renamed", "unread"}, reports), std::vector<std::string>{});
  EXPECT_EQ(unknown_disabled({"mtarix", "zebra"}, reports),
            (std::vector<std::string>{"\"mtarix\"; did you mean \"matrix\"?", "\"zebra\""}));
}

TEST(PackLoader, WhatPacksPrintStaysOutOfStdout) {
  ScratchFolder folder;
  const fs::path file = folder.add("noisy");  // a copy, so that its constructor runs now
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Registry registry;
  std::printf("mine, ");
  load_packs(plainly({file}), registry);
  std::printf("and mine again");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "mine, and mine again");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("I am lost"), std::string::npos);
}

TEST(PackLoader, TwentyThreadsLoadAPackOnce) {
  ScratchFolder folder;
  folder.add("alpha");
  folder.add("zulu");
  CallLog log;
  Registry registry;
  std::vector<std::vector<PackReport>> reports(20);
  std::vector<std::thread> threads;
  for (auto& mine : reports) {
    threads.emplace_back([&] { mine = load_packs(plainly({folder.path()}), registry); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : reports) {
    EXPECT_EQ(status_of(mine, "alpha.so"), "loaded");
    EXPECT_EQ(status_of(mine, "zulu.so"), "loaded");
  }
  EXPECT_EQ(occurrences(log.text(), "init alpha"), 1u);
  EXPECT_EQ(registry.ops().size(), 2u);
}

TEST(PackLoader, ShutdownRunsOnceInReverseOrder) {
  ScratchFolder folder;
  folder.add("alpha");
  folder.add("zulu");
  Registry registry;
  Registry other;
  shutdown_packs();  // what earlier tests loaded
  CallLog log;
  load_packs(plainly({folder.path()}), registry);
  load_packs(plainly({folder.path()}), other);
  shutdown_packs();
  shutdown_packs();
  EXPECT_EQ(log.text(),
            "init alpha\ninit zulu\ninit alpha\ninit zulu\nshutdown zulu\nshutdown alpha\n");
}

TEST(PackLoader, LibrariesStayOpen) {
  ScratchFolder folder;
  const fs::path file = folder.add("leaves_thread");
  {
    Registry registry;
    load_packs(plainly({file}), registry);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // its thread still runs its code
  EXPECT_NE(read_text("/proc/self/maps").find(file.string()), std::string::npos);
}

}  // namespace
}  // namespace onedim
