#pragma once
// Byte size: sizes as people write them on the command line.

#include <string_view>

#include "core/base/status.hpp"

namespace onedim {

// `4096`, `80GB` (10^9), `1.5GiB` (2^30); KB MB GB TB and KiB MiB GiB TiB. Above 0.
Result<int64_t> parse_byte_size(std::string_view text);

}  // namespace onedim
