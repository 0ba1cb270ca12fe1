#include "core/layout/mesh.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

std::string error_of(std::string_view text) {
  return std::string(message_of(Mesh::parse(text).status()));
}

TEST(Mesh, RoundTrip) {
  for (const char* text : {"x=1", "dp=8,tp=4", "a=1,b=2,c=3,d=1,e=1,f=1,g=1,h=1", "a=1048576"}) {
    const Result<Mesh> mesh = Mesh::parse(text);
    ASSERT_TRUE(mesh.ok()) << mesh.status();
    EXPECT_EQ(mesh->format(), text);
  }
  EXPECT_EQ(Mesh::parse(" dp = 8 , tp = 4 ")->format(), "dp=8,tp=4");
}

TEST(Mesh, TheFirstDimIsOutermost) {
  const Mesh mesh = *Mesh::parse("dp=2,tp=3");
  EXPECT_EQ(mesh.rank_count(), 6);
  EXPECT_EQ(mesh.coordinate_of(4), (Dims{1, 1}));
  for (int64_t rank = 0; rank < 6; ++rank) EXPECT_EQ(mesh.rank_of(mesh.coordinate_of(rank)), rank);
  EXPECT_EQ(mesh.find("tp"), 1);
  EXPECT_EQ(mesh.find("pp"), std::nullopt);
}

TEST(Mesh, Line) {
  EXPECT_EQ(Mesh::line(4).format(), "x=4");
  EXPECT_EQ(Mesh::line(4), *Mesh::parse("x=4"));
}

TEST(Mesh, WrongMeshesAreRefused) {
  EXPECT_EQ(error_of(""), "expected the name of a mesh dim, such as dp=8,tp=4 at column 1 of \"\"");
  EXPECT_EQ(error_of("8x8"),
            "expected the name of a mesh dim, such as dp=8,tp=4 at column 1 of \"8x8\"");
  EXPECT_EQ(error_of("dp"), "expected \"=\" at column 3 of \"dp\"");
  EXPECT_EQ(error_of("dp=x"), "expected an integer at column 4 of \"dp=x\"");
  EXPECT_EQ(error_of("dp=8,"),
            "expected the name of a mesh dim, such as dp=8,tp=4 at column 6 of \"dp=8,\"");
  EXPECT_EQ(error_of("dp=8;tp=4"),
            "expected \",\" or the end of the mesh at column 5 of \"dp=8;tp=4\"");
  EXPECT_EQ(error_of("a=2,a=3"),
            "mesh \"a=2,a=3\": mesh dim name \"a\" occurs twice, expected distinct names");
  EXPECT_EQ(error_of("a=0"), "mesh \"a=0\": mesh dim \"a\" has size 0, expected 1 or more");
  EXPECT_EQ(error_of("a=-2"), "mesh \"a=-2\": mesh dim \"a\" has size -2, expected 1 or more");
}

TEST(Mesh, LimitsHold) {
  EXPECT_EQ(error_of("a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1"),
            "mesh \"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1\": a mesh has 9 dims, expected 1 to 8");
  EXPECT_TRUE(Mesh::parse("a=1024,b=1024").ok());
  EXPECT_EQ(error_of("a=1024,b=1025"),
            "mesh \"a=1024,b=1025\": a mesh of sizes [1024,1025] has more than 2^20 ranks");
  EXPECT_FALSE(Mesh::parse("a=4611686018427387904,b=4611686018427387904").ok());
}

TEST(Mesh, CreateChecksItsArguments) {
  EXPECT_EQ(message_of(Mesh::create({"a"}, {2, 3}).status()),
            "a mesh has 1 names and 2 sizes, expected one name a size");
  EXPECT_EQ(message_of(Mesh::create({}, {}).status()), "a mesh has 0 dims, expected 1 to 8");
  EXPECT_EQ(message_of(Mesh::create({"a b"}, {2}).status()),
            "mesh dim name \"a b\" is not a word of letters, digits and _");
  EXPECT_FALSE(Mesh::create({"1"}, {2}).ok()) << "a digit would read as an index in a shard order";
}

}  // namespace
}  // namespace onedim
