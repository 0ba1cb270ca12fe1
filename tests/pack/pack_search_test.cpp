#include "core/pack/pack_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/pack/gallery.hpp"

namespace onedim {
namespace {

namespace fs = std::filesystem;

class PackSearch : public testing::Test {
 protected:
  ~PackSearch() override { ::unsetenv("ONEDIM_PACK_PATH"); }
  fs::path make(const std::string& name) {
    fs::create_directories(folder_.path() / name);
    return folder_.path() / name;
  }
  ScratchFolder folder_;
};

TEST_F(PackSearch, ExplicitThenConfiguredThenEnvironment) {
  const fs::path a = make("a"), b = make("b"), c = make("c"), d = make("d");
  ::setenv("ONEDIM_PACK_PATH", (c.string() + ":" + d.string()).c_str(), 1);
  const auto paths = pack_search_path({b}, {a});
  ASSERT_GE(paths.size(), 4u);
  EXPECT_EQ(std::vector(paths.begin(), paths.begin() + 4), (std::vector{b, a, c, d}));
}

TEST_F(PackSearch, PacksBesideTheProgramComeLast) {
  const fs::path beside = fs::canonical("/proc/self/exe").parent_path() / "packs";
  const bool made = fs::create_directory(beside);
  const fs::path a = make("a");
  const auto paths = pack_search_path({a}, {});
  if (made) fs::remove(beside);
  ASSERT_GE(paths.size(), 2u);
  EXPECT_EQ(paths[0], a);
  EXPECT_EQ(paths[1], beside);
}

TEST_F(PackSearch, NeverTheCurrentFolder) {
  const fs::path kept = fs::current_path();
  fs::current_path(make("a"));
  make("a/packs");
  for (const char* text : {"", ":", ".", "packs:./packs", "::packs:"}) {
    ::setenv("ONEDIM_PACK_PATH", text, 1);
    for (const fs::path& path : pack_search_path({}, {})) {
      EXPECT_FALSE(fs::equivalent(path, ".") || fs::equivalent(path, "packs"))
          << text << " " << path;
    }
  }
  fs::current_path(kept);
}

TEST_F(PackSearch, OnlyGivenPathsMayBeMissing) {
  ::setenv("ONEDIM_PACK_PATH", "/nowhere/c", 1);
  const auto paths = pack_search_path({"/nowhere/a"}, {"/nowhere/b"});
  EXPECT_EQ(std::count(paths.begin(), paths.end(), "/nowhere/a"), 1);
  EXPECT_EQ(std::count(paths.begin(), paths.end(), "/nowhere/b"), 1);
  EXPECT_EQ(std::count(paths.begin(), paths.end(), "/nowhere/c"), 0);
}

TEST_F(PackSearch, AFolderStandsForItsLibrariesByName) {
  const fs::path a = make("a");
  for (const char* name : {"b.so", "a.so", "c.so.1", "so", ".so", "d.txt"})
    write_text(a / name, "");
  make("a/deeper");
  write_text(a / "deeper" / "e.so", "");
  EXPECT_EQ(pack_files_at(a), (std::vector{a / "a.so", a / "b.so"}));
  EXPECT_EQ(pack_files_at(a / "d.txt"), std::vector{a / "d.txt"});
  EXPECT_EQ(pack_files_at(make("empty")), std::vector<fs::path>{});
}

}  // namespace
}  // namespace onedim
