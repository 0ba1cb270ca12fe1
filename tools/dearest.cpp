#include "tools/dearest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onedim {

std::vector<Price> dearest(std::vector<Price> prices) {
  constexpr size_t kMostRows = 10;
  std::erase_if(prices, [](const Price& price) { return !(price.us > 0); });
  std::stable_sort(prices.begin(), prices.end(),
                   [](const Price& a, const Price& b) { return a.us > b.us; });
  prices.resize(std::min(prices.size(), kMostRows));
  return prices;
}

std::vector<Price> prices_of(const std::vector<double>& us) {
  std::vector<Price> prices;
  for (size_t i = 0; i < us.size(); ++i) prices.push_back({us[i], static_cast<int>(i)});
  return prices;
}

std::string us_text(double us) { return fmt::format("{:.2f}", us); }

}  // namespace onedim
