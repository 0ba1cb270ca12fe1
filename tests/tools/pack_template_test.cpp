#include "tools/pack_template.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(PackTemplate, NamesAreWhatTheAbiAndTheBuildTake) {
  for (const char* name : {"a", "my_ops", "ops2"}) EXPECT_TRUE(check_pack_name(name).ok()) << name;
  for (const char* name : {"", "2ops", "My", "a-b", "a.b", "a/b", "..", "a b", "\xc3\xa4", "test",
                           "install", "onedim"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(check_pack_name(name))) << name;
  }
}

}  // namespace
}  // namespace onedim
