#include "core/pack/settings.hpp"

#include <gtest/gtest.h>

#include "tests/pack/gallery.hpp"

namespace onedim {
namespace {

namespace fs = std::filesystem;

std::string error_of(std::string_view text) {
  const Result<Settings> settings = parse_settings(text, "/etc/onedim.toml");
  return settings.ok() ? "no error" : std::string(settings.status().message());
}

TEST(Settings, ReadsEveryKey) {
  const Result<Settings> settings = parse_settings(
      "[packs]\npaths = [\"mine\", \"/opt/packs\", \"../up\"]\nprobe = false\n"
      "probe_timeout_ms = 250\ndisabled = [\"noisy\"]\n",
      "/etc/onedim/onedim.toml");
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->pack_paths,
            (std::vector<fs::path>{"/etc/onedim/mine", "/opt/packs", "/etc/up"}));
  EXPECT_FALSE(settings->probe);
  EXPECT_EQ(settings->probe_deadline.count(), 250);
  EXPECT_EQ(settings->disabled_packs, std::vector<std::string>{"noisy"});
}

TEST(Settings, DefaultsAreWhatTheRecordsSay) {
  std::string text;
  for (const SettingRecord& record : setting_records()) {
    EXPECT_FALSE(record.description.empty()) << record.name;
    text += std::string(record.name) + " = " + std::string(record.default_text) + "\n";
  }
  const Result<Settings> written = parse_settings(text, "/etc/onedim.toml");
  ASSERT_TRUE(written.ok()) << written.status();
  const Settings defaults;
  EXPECT_EQ(written->pack_paths, defaults.pack_paths);
  EXPECT_EQ(written->probe, defaults.probe);
  EXPECT_EQ(written->probe_deadline, defaults.probe_deadline);
  EXPECT_EQ(written->disabled_packs, defaults.disabled_packs);
}

TEST(Settings, AFolderIsNoSettingsFile) {
  ScratchFolder folder;
  EXPECT_TRUE(absl::IsUnavailable(load_settings(folder.path()).status()));
  EXPECT_TRUE(absl::IsNotFound(load_settings(folder.path() / "none.toml").status()));
}

TEST(Settings, UnknownKeysNameTheNearestAndThePlace) {
  const std::string error = error_of("[packs]\nprobe = true\nprob = false\n");
  EXPECT_NE(error.find("/etc/onedim.toml:3:"), std::string::npos) << error;
  EXPECT_NE(error.find("unknown setting packs.prob"), std::string::npos) << error;
  EXPECT_NE(error.find("packs.probe"), std::string::npos) << error;
  EXPECT_NE(error_of("[pack]\n").find("unknown setting pack"), std::string::npos);
  EXPECT_NE(error_of("[packs.paths]\nx = 1\n").find(":1: packs.paths is not a list"),
            std::string::npos);
}

TEST(Settings, WrongTypesSayWhatIsExpected) {
  EXPECT_NE(error_of("packs.probe = 1\n").find(":1: packs.probe is not true or false"),
            std::string::npos);
  EXPECT_NE(error_of("packs.paths = \"a\"\n").find("packs.paths is not a list of texts"),
            std::string::npos);
  EXPECT_NE(error_of("packs.paths = [1]\n").find("a list of texts"), std::string::npos);
  EXPECT_NE(error_of("packs.probe_timeout_ms = 0\n").find("from 1 to 3600000"), std::string::npos);
  EXPECT_NE(error_of("packs.probe_timeout_ms = 1.5\n").find("milliseconds"), std::string::npos);
  EXPECT_NE(error_of("packs = 3\n").find("unknown setting packs"), std::string::npos);
}

TEST(Settings, BrokenTomlNamesTheLine) {
  const std::string error = error_of("[packs]\nprobe = \n");
  EXPECT_NE(error.find("/etc/onedim.toml:2: not TOML"), std::string::npos) << error;
}

class SettingsFile : public testing::Test {
 protected:
  SettingsFile() : kept_(fs::current_path()) {
    fs::create_directories(folder_.path() / "here");
    fs::create_directories(folder_.path() / "config" / "onedim");
    fs::current_path(folder_.path() / "here");
    ::setenv("XDG_CONFIG_HOME", (folder_.path() / "config").c_str(), 1);
  }
  ~SettingsFile() override {
    ::unsetenv("XDG_CONFIG_HOME");
    fs::current_path(kept_);
  }
  ScratchFolder folder_;
  fs::path kept_;
};

TEST_F(SettingsFile, ExplicitThenCurrentFolderThenConfigFolder) {
  EXPECT_EQ(load_settings("")->file, "");
  write_text(folder_.path() / "config" / "onedim" / "onedim.toml", "packs.probe_timeout_ms = 1");
  EXPECT_EQ(load_settings("")->probe_deadline.count(), 1);
  write_text("onedim.toml", "packs.probe_timeout_ms = 2\npacks.paths = [\"p\"]");
  EXPECT_EQ(load_settings("")->probe_deadline.count(), 2);
  EXPECT_EQ(load_settings("")->pack_paths, std::vector{folder_.path() / "here" / "p"});
  write_text("other.toml", "packs.probe_timeout_ms = 3");
  EXPECT_EQ(load_settings("other.toml")->probe_deadline.count(), 3);
}

TEST_F(SettingsFile, MissingExplicitFileIsAnError) {
  EXPECT_FALSE(load_settings("absent.toml").ok());
  EXPECT_FALSE(load_settings(folder_.path()).ok());
}

}  // namespace
}  // namespace onedim
