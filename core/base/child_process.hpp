#pragma once
// ChildProcess: one child made by posix_spawn (never by fork alone: the program may hold threads),
// with a line protocol on its stdout and, if wanted, its stdin. It leads a process group of its own
// and inherits no blocked or ignored signal, so that all it starts ends with it. Ended and
// collected at the latest when this object is destroyed; a child that calls enter_child_process
// also ends with a parent that is killed.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "core/base/status.hpp"

namespace onedim {

class ChildProcess {
 public:
  enum class Input { kNone, kLines };  // its stdin: /dev/null, or what `send` writes
  // `command` is a program's path and its arguments.
  static Result<ChildProcess> start(const std::vector<std::string>& command,
                                    Input input = Input::kLines);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  int output() const { return output_; }  // to be polled
  // False if the child no longer reads. A child that is gone is an error, never a signal.
  bool send(std::string_view line);
  // Takes what the child has written so far, and waits for something; false once its output ended.
  bool receive();
  // The next whole line received, without its end; false if there is none yet.
  bool next_line(std::string& line);
  enum class Read { kLine, kEnd, kTimeout };
  // The next line, waited for at most `limit`.
  Read read_line(std::chrono::milliseconds limit, std::string& line);
  // What it has had of the processors, all its threads together; 0 if that cannot be read.
  std::chrono::nanoseconds processor_time() const;
  // Kills the child and its group if they still run; how it ended, as describe_ending says it.
  std::string end();

 private:
  ChildProcess(pid_t child, int input, int output)
      : child_(child), input_(input), output_(output) {}

  pid_t child_;
  int input_;
  int output_;
  std::string pending_;
};

// A wait status in words: `was ended by signal 11 (Segmentation fault)`, `ended with code 3`.
std::string describe_ending(int wait_status);

// The child's side, first thing: crashes end it by their signal at once, without a core file, and
// the end of its parent ends it too.
void enter_child_process();

}  // namespace onedim
