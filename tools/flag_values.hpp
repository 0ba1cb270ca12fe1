#pragma once
// Flag values: numbers as typed behind a flag. What is no number, out of range or cut short is an
// error that names the flag and the range; nothing wraps or saturates.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace onedim {

// A whole number from `least` to `most`, in decimal digits.
Result<uint64_t> parse_whole(std::string_view flag, std::string_view text, uint64_t least,
                             uint64_t most);

// More than 0 seconds, at most a day.
Result<double> parse_seconds(std::string_view flag, std::string_view text);

// `2,3,4`: one or more numbers of ranks from 2 to 64.
Result<std::vector<int64_t>> parse_worlds(std::string_view flag, std::string_view text);

}  // namespace onedim
