#pragma once
// How often this thread has asked for memory: the program's operator new counts.

#include <cstdint>

namespace onedim {

int64_t allocation_count();

}  // namespace onedim
