#pragma once
// WorkerProcess: one child with a line protocol on its stdin and stdout. Its stdin is a socket, so
// that writing to a child that is gone is an error and not a signal.

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/status.hpp"

namespace onedim {

class WorkerProcess {
 public:
  static Result<WorkerProcess> start(const std::vector<std::string>& command);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();  // ends the child

  int output() const { return output_; }
  // False if the child no longer reads.
  bool send(std::string_view line);
  // Takes what the child has written so far; false once its output has ended.
  bool receive();
  // The next whole line received, without its end; false if there is none yet.
  bool next_line(std::string& line);
  // Ends the child if it still runs; how it ended, in words.
  std::string end();

 private:
  WorkerProcess(pid_t child, int input, int output)
      : child_(child), input_(input), output_(output) {}

  pid_t child_;
  int input_;
  int output_;
  std::string buffer_;
};

}  // namespace onedim
