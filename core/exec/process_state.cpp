#include "core/exec/process_state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace onedim {
namespace {

struct ProcessLine {
  char state = 'X';
  uint64_t start = 0;
};

// proc(5): `pid (name) state ppid ...`, the start is field 22; the name may hold anything.
ProcessLine read_line(int process) {
  const int file = ::open(fmt::format("/proc/{}/stat", process).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char text[1024];
  const ssize_t length = ::read(file, text, sizeof(text));
  ::close(file);
  if (length <= 0) return {};
  const std::string line(text, static_cast<size_t>(length));
  size_t at = line.rfind(')');
  if (at == line.npos || at + 2 >= line.size()) return {};
  ProcessLine found;
  at += 2;
  found.state = line[at];
  constexpr int kFieldsToStart = 22 - 3;
  for (int field = 0; field < kFieldsToStart && at != line.npos; ++field)
    at = line.find(' ', at + 1);
  if (at != line.npos) found.start = std::strtoull(line.c_str() + at, nullptr, 10);
  return found;
}

}  // namespace

uint64_t process_start(int process) { return read_line(process).start; }

ProcessState state_of_process(int process, uint64_t start) {
  const ProcessLine line = read_line(process);
  if (line.start == 0 || line.start != start) return ProcessState::kGone;
  if (line.state == 'Z' || line.state == 'X' || line.state == 'x') return ProcessState::kGone;
  return line.state == 'T' || line.state == 't' ? ProcessState::kStopped : ProcessState::kRuns;
}

}  // namespace onedim
