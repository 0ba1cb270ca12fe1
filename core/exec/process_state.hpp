#pragma once
// Process state: what became of another process of this machine, as /proc tells.

#include <cstdint>

namespace onedim {

enum class ProcessState { kRuns, kStopped, kGone };

// When the process began, in the kernel's ticks since the machine did; 0: there is none.
uint64_t process_start(int process);
// Of the process that began then; one of the same number that began at another time is another.
ProcessState state_of_process(int process, uint64_t start);

}  // namespace onedim
