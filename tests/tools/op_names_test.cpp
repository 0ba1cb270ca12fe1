#include "tools/op_names.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

class OpNames : public testing::Test {
 protected:
  void SetUp() override {
    StagedPack pack;
    pack.name = "test";
    for (const char* schema : {"add.Tensor(Tensor self, Tensor other) -> Tensor",
                               "add.Scalar(Tensor self, Scalar other) -> Tensor",
                               "addmm(Tensor self, Tensor mat1, Tensor mat2) -> Tensor",
                               "lib.rope(Tensor self) -> Tensor", "sum(Tensor self) -> Tensor",
                               "sum.dim_IntList(Tensor self, int[] dim) -> Tensor"}) {
      auto op = std::make_unique<Op>();
      op->pack = "test";
      op->schema = *parse_schema(schema);
      pack.ops.push_back(std::move(op));
    }
    ASSERT_TRUE(registry_.commit(std::move(pack)).ok());
    registry_.resolve();
  }

  std::string all(const char* text) {
    const Result<std::vector<const Op*>> ops = find_ops(registry_, text);
    if (!ops.ok()) return std::string(message_of(ops.status()));
    std::string names;
    for (const Op* op : *ops) names += (names.empty() ? "" : " ") + op->name();
    return names;
  }
  std::string one(const char* text) {
    const Result<const Op*> op = find_op(registry_, text);
    return op.ok() ? (*op)->name() : std::string(message_of(op.status()));
  }

  Registry registry_;
};

TEST_F(OpNames, AnExactNameWins) {
  EXPECT_EQ(all("sum"), "sum");
  EXPECT_EQ(one("sum"), "sum");
  EXPECT_EQ(one("lib.rope"), "lib.rope");
}

TEST_F(OpNames, AStarMeansAllOverloads) {
  EXPECT_EQ(all("sum.*"), "sum sum.dim_IntList");
  EXPECT_EQ(all("add.*"), "add.Scalar add.Tensor");
  EXPECT_EQ(all("lib.*"), "lib.rope");
}

TEST_F(OpNames, ABareNameStandsForAllOverloadsWhereNoOpHasIt) {
  EXPECT_EQ(all("add"), "add.Scalar add.Tensor");
  EXPECT_EQ(one("add"), "\"add\" names 2 ops; give one of add.Scalar, add.Tensor");
}

TEST_F(OpNames, PyTorchSpellingsAreRead) {
  EXPECT_EQ(one("aten.addmm.default"), "addmm");
  EXPECT_EQ(one("aten.add.Tensor"), "add.Tensor");
}

TEST_F(OpNames, UnknownNamesComeWithTheNearest) {
  EXPECT_EQ(all("admm"), "unknown op \"admm\"; did you mean \"addmm\"?");
  EXPECT_EQ(all("add.Tenser"), "unknown op \"add.Tenser\"; did you mean \"add.Tensor\"?");
  EXPECT_NE(all("completely_else").find("`onedim ops`"), std::string::npos);
  EXPECT_NE(all("").find("unknown op"), std::string::npos);
  EXPECT_NE(all(".*").find("unknown op"), std::string::npos);
}

TEST_F(OpNames, OtherPatternsSayWhatThereIs) {
  for (const char* text : {"*", "add*", "*.Tensor"}) {
    EXPECT_EQ(all(text), "\"" + std::string(text) +
                             "\" names no op: only NAME.* stands for several, the overloads of "
                             "NAME; `onedim ops` without a name lists all");
  }
}

}  // namespace
}  // namespace onedim
