#pragma once
// WorkerProcess: the child process of a worker, with lines on its stdin and stdout.

#include "core/base/child_process.hpp"

namespace onedim {

using WorkerProcess = ChildProcess;

}  // namespace onedim
