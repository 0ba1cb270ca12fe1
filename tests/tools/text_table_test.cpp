#include "tools/text_table.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(TextTable, ColumnsAreAsWideAsTheirWidestCellAndLinesEndBare) {
  EXPECT_EQ(format_table({{"op", "n"}, {"matmul", "1"}, {"t", ""}}), "op      n\nmatmul  1\nt\n");
  EXPECT_EQ(format_table({}), "");
}

TEST(TextTable, ARowIsALineWhateverItsCells) {
  EXPECT_EQ(format_table({{"a\nb", "c\033[2J"}, {"longer", "d"}}), "a b     c?[2J\nlonger  d\n");
}

}  // namespace
}  // namespace onedim
