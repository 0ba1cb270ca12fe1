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

TEST(OutputFile, AFaultNamesTheFileAndTheReason) {
  EXPECT_EQ(message_of(write_text_file("no/such/folder/f", "text")),
            "cannot write \"no/such/folder/f\": No such file or directory");
  const std::string folder = testing::TempDir();
  EXPECT_EQ(message_of(write_text_file(folder, "text")),
            "cannot write \"" + folder + "\": Is a directory");
  EXPECT_TRUE(absl::IsUnavailable(write_text_file(folder, "text")));
  // Short texts fail when the file is closed, long ones before.
  for (const size_t size : {size_t{1}, size_t{1} << 20}) {
    EXPECT_EQ(message_of(write_text_file("/dev/full", std::string(size, 'x'))),
              "cannot write \"/dev/full\": No space left on device");
  }
  EXPECT_TRUE(absl::IsUnavailable(read_text_file(testing::TempDir()).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(read_text_file("no/such/file").status()));
}

}  // namespace
}  // namespace onedim
