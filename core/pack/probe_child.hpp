#pragma once
// ProbeChild: a child process, made by posix_spawn, whose stdout is read line by line with a time
// limit. It runs in a process group of its own, so that what it starts ends with it. Killed and
// reaped at the latest when this object is destroyed.

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <span>
#include <string>

namespace onedim {

class ProbeChild {
 public:
  // Runs `<program> probe-packs ARGUMENTS...`.
  ProbeChild(const std::filesystem::path& program, std::span<const std::string> arguments);
  ~ProbeChild();
  ProbeChild(const ProbeChild&) = delete;
  ProbeChild& operator=(const ProbeChild&) = delete;

  const std::string& error() const { return error_; }  // empty if the child runs

  enum class State { kLine, kEnd, kTimeout };
  struct Line {
    State state;
    std::string text;
  };
  Line read_line(std::chrono::milliseconds limit);

  // Kills the child if it still runs and says how it ended: `killed by SIGABRT`, `exited with
  // status 3`.
  std::string finish();

 private:
  std::string error_;
  pid_t process_ = -1;
  int channel_ = -1;
  std::string pending_;
};

}  // namespace onedim
