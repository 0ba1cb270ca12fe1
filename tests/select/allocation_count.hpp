#pragma once
// How often this thread has asked for memory: the program's operator new counts.

#include <cstdint>

namespace onedim {

#ifdef ONEDIM_FOREIGN_NEW
inline constexpr bool kCountsAllocations = false;
#else
inline constexpr bool kCountsAllocations = true;
#endif

// Always 0 where they are not counted.
int64_t allocation_count();

}  // namespace onedim
