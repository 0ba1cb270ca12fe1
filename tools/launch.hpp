#pragma once
// Launch: how this process was started as one of several, told from the variables that launchers
// set: Open MPI's mpirun, PMI and PMIx (MPICH's mpiexec, srun), Slurm's own, torchrun's.

#include <functional>
#include <string>
#include <vector>

#include "core/base/status.hpp"

namespace onedim {

struct Launch {
  std::string launcher;  // `mpirun`; "": none
  int64_t rank = 0;
  int64_t ranks = 1;
};

// A variable's value, or null.
using Variables = std::function<const char*(const char* name)>;

// What the first launcher says that set its variables. Refused where these say nothing whole.
Result<Launch> find_launch(const Variables& variables);

}  // namespace onedim
