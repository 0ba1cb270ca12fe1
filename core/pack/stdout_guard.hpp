#pragma once
// StdoutGuard: while it lives, what this process writes to stdout goes to stderr, so that a pack
// that prints while it loads does not end up inside the host's own output. One at a time.

namespace onedim {

class StdoutGuard {
 public:
  StdoutGuard();
  ~StdoutGuard();
  StdoutGuard(const StdoutGuard&) = delete;
  StdoutGuard& operator=(const StdoutGuard&) = delete;

 private:
  int kept_;  // stdout as it was, or -1
};

}  // namespace onedim
