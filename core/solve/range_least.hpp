#pragma once
// Range least: the least of any range of a list, in two looks.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace onedim {

class RangeLeast {
 public:
  explicit RangeLeast(std::vector<int64_t> values) {
    levels_.push_back(std::move(values));
    for (size_t width = 1; 2 * width <= levels_[0].size(); width *= 2) {
      const std::vector<int64_t>& last = levels_.back();
      std::vector<int64_t> next(last.size() - width);
      for (size_t i = 0; i < next.size(); ++i) next[i] = std::min(last[i], last[i + width]);
      levels_.push_back(std::move(next));
    }
  }

  // Of [begin, end), which must not be empty.
  int64_t least(int begin, int end) const {
    const int level = std::bit_width(static_cast<unsigned>(end - begin)) - 1;
    return std::min(levels_[level][begin], levels_[level][end - (1 << level)]);
  }

 private:
  std::vector<std::vector<int64_t>> levels_;
};

}  // namespace onedim
