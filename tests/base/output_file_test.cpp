#include "core/base/output_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/input_file.hpp"

namespace onedim {
namespace {

TEST(OutputFile, IsReadBack) {
  const std::string path = testing::TempDir() + "/output_file_test.txt";
  ASSERT_TRUE(write_text_file(path, "a longer text").ok());
  ASSERT_TRUE(write_text_file(path, "text\n").ok());
  EXPECT_EQ(*read_text_file(path), "text\n");
  std::filesystem::remove(path);
}

TEST(OutputFile, AFaultNamesTheFile) {
  EXPECT_EQ(message_of(write_text_file("no/such/folder/f", "text")),
            "\"no/such/folder/f\" could not be written");
  EXPECT_TRUE(absl::IsUnavailable(read_text_file(testing::TempDir()).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(read_text_file("no/such/file").status()));
}

}  // namespace
}  // namespace onedim
