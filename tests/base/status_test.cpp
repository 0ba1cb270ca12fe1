#include "core/base/status.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(Status, FormatsItsMessage) {
  const Status status = invalid_argument("size {} is not {}", 3, "even");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(message_of(status), "size 3 is not even");
  EXPECT_EQ(unimplemented("no {}", "kernel").code(), absl::StatusCode::kUnimplemented);
}

TEST(Status, AnnotateKeepsTheCode) {
  const Status status = annotate(unimplemented("no kernel"), "pack \"a\"");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(message_of(status), "pack \"a\": no kernel");
}

TEST(Status, AnnotateLeavesSuccessAlone) { EXPECT_TRUE(annotate(Status(), "anything").ok()); }

}  // namespace
}  // namespace onedim
