#pragma once
// Dearest: the few largest of many prices, for tables that are read in full.

#include <string>
#include <vector>

namespace onedim {

struct Price {
  double us = 0;
  int index = 0;  // of a node or a move
  int slot = -1;
};

// The dearest above 0 in front, those of one price in the order given; at most ten.
std::vector<Price> dearest(std::vector<Price> prices);
// Each with its index.
std::vector<Price> prices_of(const std::vector<double>& us);

// `12.35`.
std::string us_text(double us);

}  // namespace onedim
