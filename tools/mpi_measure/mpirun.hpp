#pragma once
// Measurements by mpirun: starts onedim-mpi-measure on a number of ranks and takes what it prints,
// text as nccl-tests gives it. The command itself knows nothing of MPI.

#include <chrono>
#include <functional>
#include <string>

#include "core/base/status.hpp"

namespace onedim {

struct MpirunOptions {
  int64_t ranks = 2;
  std::string mpirun = "mpirun";  // a path, or a name that is looked up on the PATH
  std::string program;            // onedim-mpi-measure
  int64_t largest_bytes = 16 << 20;
  std::chrono::seconds deadline{300};
};

// `on_line` sees every line as it comes. More ranks than cores are allowed, and so is root. Errors
// are the environment's: no mpirun, no program, output that was cut short, the deadline.
Result<std::string> measure_by_mpirun(const MpirunOptions& options,
                                      const std::function<void(std::string_view)>& on_line);

// `name` as the shell finds it; "" if it does not.
std::string find_program(const std::string& name);
// What Open MPI asks for before it lets root start ranks, or more of them than there are cores. The
// user's own settings win; other MPIs ignore it.
void allow_root_and_many_ranks();

}  // namespace onedim
