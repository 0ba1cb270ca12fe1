#include "core/pack/probe.hpp"

#include <gtest/gtest.h>

#include "tests/pack/gallery.hpp"

namespace onedim {
namespace {

using std::chrono::milliseconds;

std::vector<PackFile> probe(const std::vector<std::string>& names, const ProbeOptions& options) {
  std::vector<PackFile> files;
  for (const std::string& name : names) files.push_back(examine_pack(gallery_pack(name)));
  std::vector<PackFile*> pointers;
  for (PackFile& file : files) pointers.push_back(&file);
  probe_packs(options, pointers);
  return files;
}

ProbeOptions standard() { return {ONEDIM_PROBE_PROGRAM, milliseconds(2000)}; }

std::string status(const PackFile& file) {
  return std::string(verdict_text(file.report.verdict.word));
}

TEST(Probe, GoodFilesShareOneChild) {
  CallLog log;
  const auto files = probe({"alpha", "zulu"}, standard());
  EXPECT_EQ(status(files[0]), "loaded");
  EXPECT_EQ(status(files[1]), "loaded");
  EXPECT_EQ(files[1].report.name, "zulu");
  EXPECT_EQ(log.text(), "init alpha\ninit zulu\n");
}

TEST(Probe, WhatPacksPrintIsNoReport) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const auto files = probe({"noisy", "alpha"}, standard());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(status(files[0]), "loaded") << files[0].report.verdict.reason;
  EXPECT_EQ(status(files[1]), "loaded") << files[1].report.verdict.reason;
}

TEST(Probe, GoesOnBehindEachCrash) {
  const auto files =
      probe({"constructor_aborts", "alpha", "init_crashes", "init_exits", "zulu"}, standard());
  EXPECT_EQ(files[0].report.verdict.reason,
            "the process that loaded it was ended by signal 6 (Aborted)");
  EXPECT_EQ(status(files[1]), "loaded");
  EXPECT_EQ(files[2].report.verdict.reason,
            "the process that loaded it was ended by signal 11 (Segmentation fault)");
  EXPECT_EQ(files[3].report.verdict.reason, "the process that loaded it ended with code 7");
  EXPECT_EQ(status(files[4]), "loaded");
}

TEST(Probe, GoesOnBehindAHang) {
  const auto files =
      probe({"alpha", "init_hangs", "zulu"}, {ONEDIM_PROBE_PROGRAM, milliseconds(300)});
  EXPECT_EQ(status(files[0]), "loaded");
  EXPECT_EQ(status(files[1]), "timeout");
  EXPECT_NE(files[1].report.verdict.reason.find("300 ms"), std::string::npos);
  EXPECT_EQ(status(files[2]), "loaded");
}

TEST(Probe, ALateCrashIsNotBlamedOnTheNextFile) {
  ::setenv("GALLERY_ARMED", "1", 1);
  const auto files = probe({"crashes_later", "slow", "alpha"}, standard());
  ::unsetenv("GALLERY_ARMED");
  EXPECT_EQ(status(files[1]), "loaded") << files[1].report.verdict.reason;
  EXPECT_EQ(status(files[2]), "loaded") << files[2].report.verdict.reason;
}

TEST(Probe, AProgramThatIsNoProbeIsNamed) {
  for (const char* program : {"/bin/true", "/bin/echo", "/nowhere/onedim"}) {
    const auto files = probe({"alpha", "zulu"}, {program, milliseconds(500)});
    for (const PackFile& file : files) {
      EXPECT_EQ(status(file), "unavailable") << program;
      EXPECT_NE(file.report.verdict.reason.find(program), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace onedim
