#pragma once
// Worker pool: the parent's side. Requests are handed one by one to child processes started with
// posix_spawn (never by fork alone: the program may hold threads). A worker that dies or runs past
// the deadline costs the op it was at the verdict `crashed`, with the call that it was at; a new
// one goes on with the rest. Reports come back in the order of the requests, whatever the number of
// workers.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/validate/op_validation.hpp"

namespace onedim {

struct PoolOptions {
  std::vector<std::string> command;  // program and arguments of a worker
  int workers = 1;
  std::chrono::milliseconds deadline{60000};  // of computing, for one op
  // Called as work goes on, with the op last begun; may be empty.
  std::function<void(size_t done, size_t total, const std::string& op)> progress;
};

// Fails where workers cannot be started at all.
Result<std::vector<OpReport>> run_in_workers(std::span<const OpRequest> requests,
                                             const PoolOptions& options);

}  // namespace onedim
