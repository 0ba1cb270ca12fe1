#include "core/pack/shared_object.hpp"

#include <gtest/gtest.h>

#include "tests/pack/gallery.hpp"

namespace onedim {
namespace {

TEST(SharedObject, FindsItsOwnSymbols) {
  const SharedObject::Opened opened = SharedObject::open(gallery_pack("alpha"));
  ASSERT_NE(opened.object, nullptr) << opened.verdict.reason;
  const void* entry = opened.object->find("onedim_pack_v1");
  ASSERT_NE(entry, nullptr);
  EXPECT_TRUE(opened.object->contains(entry));
  EXPECT_EQ(opened.object->find("onedim_pack_v9"), nullptr);
}

TEST(SharedObject, SymbolsOfDependenciesAreForeign) {
  const SharedObject::Opened opened = SharedObject::open(gallery_pack("foreign_entry"));
  ASSERT_NE(opened.object, nullptr) << opened.verdict.reason;
  const void* entry = opened.object->find("onedim_pack_v1");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(opened.object->contains(entry));
  int local = 0;
  EXPECT_FALSE(opened.object->contains(&local));
}

TEST(SharedObject, ExplainsRefusals) {
  const auto unresolved = SharedObject::open(gallery_pack("unresolved"));
  EXPECT_EQ(unresolved.object, nullptr);
  EXPECT_EQ(unresolved.verdict.word, VerdictWord::kUnresolved);
  const auto missing = SharedObject::open(gallery_pack("missing_library"));
  EXPECT_EQ(missing.verdict.word, VerdictWord::kUnavailable);
  EXPECT_EQ(missing.verdict.reason,
            "needs libgallery_absent_device.so, which is not on this machine");
  const auto text = SharedObject::open("/etc/hostname");
  EXPECT_EQ(text.object, nullptr);
  EXPECT_EQ(text.verdict.word, VerdictWord::kUnavailable);
}

}  // namespace
}  // namespace onedim
