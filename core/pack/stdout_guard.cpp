#include "core/pack/stdout_guard.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace onedim {

// Flushed on both sides, since the buffer is the process's and the pack's alike.
StdoutGuard::StdoutGuard() {
  std::fflush(stdout);
  kept_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (kept_ >= 0) ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

StdoutGuard::~StdoutGuard() {
  if (kept_ < 0) return;
  std::fflush(stdout);
  ::dup2(kept_, STDOUT_FILENO);
  ::close(kept_);
}

}  // namespace onedim
