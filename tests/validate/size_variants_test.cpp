#include "core/validate/size_variants.hpp"

#include <gtest/gtest.h>

#include "shipped_packs.hpp"
#include "small_pack.hpp"

namespace onedim {
namespace {

Subject subject_of(const Registry& registry, const std::string& name, const std::string& text) {
  const Op* op = registry.find(name);
  EXPECT_NE(op, nullptr) << name;
  Result<CallText> call = parse_call(op->schema, text);
  EXPECT_TRUE(call.ok()) << call.status();
  Result<Subject> subject = make_subject(*op, *call);
  EXPECT_TRUE(subject.ok()) << subject.status();
  return *subject;
}

std::string text_of(const Subject& subject) { return format_call(subject.call, subject.domains); }

TEST(SizeVariants, EqualSizesStayEqualAndOnesStay) {
  const Subject subject = subject_of(small_registry(), "small.add", "f64[5,1]; f64[1,7]");
  const std::vector<Subject> even = even_variants(subject, 3);
  ASSERT_EQ(even.size(), 1u);
  EXPECT_EQ(text_of(even[0]), "f64[6,1]; f64[1,6]");
  EXPECT_EQ(text_of(*uneven_variant(subject, 3)), "f64[2,1]; f64[1,4]");
}

TEST(SizeVariants, UnevenSizesLeaveShortAndEmptyShards) {
  const Subject subject = subject_of(small_registry(), "small.mm", "f64[4,6]; f64[6,12]");
  EXPECT_EQ(text_of(*uneven_variant(subject, 2)), "f64[3,5]; f64[5,7]");
  EXPECT_EQ(text_of(*uneven_variant(subject, 4)), "f64[3,5]; f64[5,6]");
}

TEST(SizeVariants, SizesAmongTheAttributesFollow) {
  const Subject subject = subject_of(shipped_registry(), "custom.expand", "f64[4,1]; size=[4,6]");
  const std::vector<Subject> even = even_variants(subject, 4);
  ASSERT_EQ(even.size(), 1u);
  EXPECT_EQ(text_of(even[0]), "f64[8,1]; size=[8,8]");
}

TEST(SizeVariants, RatiosSurviveByScaling) {
  // Four query heads share two key heads; other orders of sizes would not be accepted.
  const Subject subject = subject_of(shipped_registry(), "custom.attention",
                                     "f64[1,4,3,2]; f64[1,2,5,2]; f64[1,2,5,2]; -");
  for (const int64_t world : {2, 3, 4}) {
    const std::vector<Subject> even = even_variants(subject, world);
    ASSERT_FALSE(even.empty()) << world;
    for (const int64_t size : even[0].call.inputs[0]->shape)
      EXPECT_TRUE(size == 1 || size % world == 0) << text_of(even[0]);
  }
}

TEST(SizeVariants, ScalarsHaveNone) {
  const Subject subject = subject_of(small_registry(), "small.add", "f64[]; f64[]");
  EXPECT_TRUE(even_variants(subject, 2).empty());
  EXPECT_FALSE(uneven_variant(subject, 2).has_value());
}

}  // namespace
}  // namespace onedim
