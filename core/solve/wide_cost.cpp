#include "core/solve/wide_cost.hpp"

#include <algorithm>

namespace onedim {

std::string format_wide(WideCost cost) {
  const bool is_negative = cost < 0;
  std::string text;
  do {
    const auto digit = static_cast<int>(cost % 10);
    text.push_back(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    cost /= 10;
  } while (cost != 0);
  if (is_negative) text.push_back('-');
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace onedim
