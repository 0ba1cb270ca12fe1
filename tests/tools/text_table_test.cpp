#include "tools/text_table.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(TextTable, ColumnsAreAsWideAsTheirWidestCellAndLinesEndBare) {
  EXPECT_EQ(format_table({{"op", "n"}, {"matmul", "1"}, {"t", ""}}), "op      n\nmatmul  1\nt\n");
  EXPECT_EQ(format_table({}), "");
}

}  // namespace
}  // namespace onedim
