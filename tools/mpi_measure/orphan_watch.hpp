#pragma once
// Orphan watch: ends this process, a rank, soon after what started it is gone. A killed mpirun
// cannot tell its ranks, which would wait for each other for ever.

namespace onedim {

// Call once, before MPI starts; uses SIGALRM. `seconds` from now the process ends in any case; 0:
// no limit.
void end_with_parent(unsigned seconds);

}  // namespace onedim
