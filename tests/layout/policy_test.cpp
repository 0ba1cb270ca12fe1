#include "core/layout/policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/layout/index_map.hpp"
#include "tests/random_seed.hpp"

namespace onedim {
namespace {

std::string refusal(std::string_view tensor, std::string_view layout, std::string_view mesh_text,
                    Policy policy) {
  const Mesh mesh = *Mesh::parse(mesh_text);
  const TensorMeta meta = *parse_meta(tensor);
  const Layout parsed = *parse_layout(layout, mesh, static_cast<int>(meta.shape.size()));
  return std::string(message_of(check_policy(meta, parsed, mesh, policy)));
}

TEST(Policy, NamesAreRead) {
  for (const Policy policy : {Policy::kEven, Policy::kNonempty, Policy::kFits, Policy::kAny})
    EXPECT_EQ(*parse_policy(policy_name(policy)), policy);
  EXPECT_EQ(message_of(parse_policy("nonemty").status()),
            "unknown policy \"nonemty\", expected one of even nonempty fits any; did you mean "
            "\"nonempty\"?");
  EXPECT_FALSE(parse_policy("").ok());
}

// 10 over 8 is 2, 2, 2, 2, 2 and three empty ranks.
TEST(Policy, TenOverEight) {
  EXPECT_NE(refusal("f32[10]", "S(0)", "x=8", Policy::kEven), "");
  EXPECT_EQ(refusal("f32[10]", "S(0)", "x=8", Policy::kNonempty),
            "layout S(0) of f32[10]: S(0) over mesh dim x=8 cuts a length of 10, which leaves some "
            "ranks empty; policy nonempty refuses that, policy any allows it");
  EXPECT_EQ(refusal("f32[10]", "S(0)", "x=8", Policy::kFits), "");
  EXPECT_EQ(refusal("f32[10]", "S(0)", "x=8", Policy::kAny), "");
}

TEST(Policy, WalksTheLengthThatIsLeft) {
  EXPECT_EQ(
      refusal("f32[32,4096,4096]", "S(0),S(0)", "a=32,b=8", Policy::kFits),
      "layout S(0),S(0) of f32[32,4096,4096]: S(0) over mesh dim b=8 cuts a length of 1, which "
      "has fewer indices than ranks; policy fits refuses that, policy any allows it");
  EXPECT_NE(refusal("f32[32,4096,4096]", "S(0),S(0)", "a=32,b=8", Policy::kNonempty), "");
  EXPECT_EQ(refusal("f32[12]", "S(0),S(0)", "a=2,b=3", Policy::kEven), "");
  // 10 over 2 divides, 5 over 3 does not; 2, 2, 1 leaves nobody empty.
  EXPECT_NE(refusal("f32[10]", "S(0),S(0)", "a=2,b=3", Policy::kEven), "");
  EXPECT_EQ(refusal("f32[10]", "S(0),S(0)", "a=2,b=3", Policy::kNonempty), "");
  // 9 over 2 is 5 and 4: the 4 over 3 is 2, 2, 0.
  EXPECT_NE(refusal("f32[9]", "S(0),S(0)", "a=2,b=3", Policy::kNonempty), "");
}

TEST(Policy, OrdersAndStridesCount) {
  EXPECT_EQ(refusal("f32[4]", "S(0),S(0)", "a=3,b=2", Policy::kFits), "");
  EXPECT_NE(refusal("f32[4]", "S(0)[b,a],S(0)", "a=3,b=2", Policy::kFits), "");
  EXPECT_EQ(refusal("f32[8]", "SS(0,2)", "a=4", Policy::kEven), "");
  EXPECT_NE(refusal("f32[6]", "SS(0,2)", "a=4", Policy::kNonempty), "");
}

TEST(Policy, TensorsWithoutElementsAndUnitDimsAreFree) {
  EXPECT_EQ(refusal("f32[0,3]", "S(0),S(1)", "a=2,b=4", Policy::kEven), "");
  EXPECT_EQ(refusal("f32[3]", "S(0)", "a=1", Policy::kEven), "");
}

// The lengths of all ranks against the index map, cut by cut.
TEST(CutLengths, AreThoseOfTheIndexMap) {
  std::mt19937_64 random(random_seed());
  for (int round = 0; round < 2000; ++round) {
    const auto number = [&](int64_t low, int64_t high) {
      return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
    };
    const Mesh mesh = *Mesh::create({"a", "b"}, {number(1, 7), number(1, 5)});
    const Dims shape = {number(0, 40)};
    Layout layout;
    for (int i = 0; i < 2; ++i) {
      layout.placements.push_back(number(0, 1) == 0 ? Placement::shard(0)
                                                    : Placement::strided_shard(0, number(1, 9)));
    }
    CutLengths lengths(shape[0]);
    for (int i = 0; i < 2; ++i) lengths.cut(cut_of(layout.placements[i], mesh.size(i)));
    std::vector<int64_t> found(lengths.lengths().begin(), lengths.lengths().end()), expected;
    for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
      expected.push_back(index_map(shape, layout, mesh, mesh.coordinate_of(rank)).local_shape()[0]);
    }
    EXPECT_EQ(found.front(), *std::max_element(expected.begin(), expected.end()));
    for (std::vector<int64_t>* list : {&found, &expected}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    EXPECT_EQ(found, expected) << shape[0] << " " << format_layout(layout, mesh) << " on "
                               << mesh.format() << ", seed " << random_seed();
  }
}

}  // namespace
}  // namespace onedim
