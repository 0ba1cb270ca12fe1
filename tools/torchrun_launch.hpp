#pragma once
// Torchrun launch: processes that torchrun, or something alike, has started know their numbers and
// an address, which MPI cannot start from. So rank 0 has mpirun start all ranks, on its machine, by
// the same command line, and the processes of the others wait for how that ends: they connect to
// rank 0's, at MASTER_ADDR and MASTER_PORT, and get its exit code.

#include "tools/launch.hpp"

namespace onedim {

struct TorchrunLaunch {
  int64_t rank = 0;
  int64_t ranks = 1;
  std::string address;
  int port = 0;  // the one behind MASTER_PORT where torchrun's own store has that
};

// Refused where ranks are on several machines, or the address is not whole.
Result<TorchrunLaunch> find_torchrun(const Launch& launch, const Variables& variables);

// Runs `command`, a program and its arguments, on all ranks; the exit code of the whole, on each.
Result<int> run_by_torchrun(const TorchrunLaunch& launch, const std::vector<std::string>& command);

// The command line of this process.
std::vector<std::string> own_command_line();

}  // namespace onedim
