#pragma once
// TextTable: rows of cells, written with every column as wide as its widest cell. The last column
// is not padded, so no line ends in spaces.

#include <string>
#include <vector>

namespace onedim {

using TextRow = std::vector<std::string>;

std::string format_table(const std::vector<TextRow>& rows);

}  // namespace onedim
