#include "tools/supervisor.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "core/base/child_process.hpp"
#include "core/base/one_line.hpp"
#include "core/pack/foreign_call.hpp"
#include "tools/session.hpp"
#include "tools/terminal.hpp"

namespace onedim {
namespace {

// What the child tells its parent, even when it dies.
struct Record {
  ForeignCallText running{};
  std::atomic<int> code{-1};  // the exit code, once the command has ended
};

// Signals that are sent to a command, as against those that a fault raises.
constexpr std::array<int, 4> kSent = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

Record* record = nullptr;
volatile pid_t child = -1;

extern "C" void pass_on(int signal) { ::kill(child, signal); }

void pass_signals_on() {
  for (const int signal : kSent) {
    if (std::signal(signal, pass_on) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

// A child that was ended from outside, or whose reader went away, is no finding.
bool was_ended_from_outside(int status) {
  if (!WIFSIGNALED(status)) return false;
  const int signal = WTERMSIG(status);
  return signal == SIGPIPE || std::find(kSent.begin(), kSent.end(), signal) != kSent.end();
}

int code_after(int status) {
  const int code = record->code;
  if (WIFEXITED(status) && WEXITSTATUS(status) == code) return code;
  const std::string ending = describe_ending(status);
  const std::string running = record->running.data();
  std::string line = fmt::format("onedim: the command {} in no pack's code", ending);
  if (!running.empty()) {
    line =
        fmt::format("onedim: {}: the process {}; packs.disabled in onedim.toml leaves a pack out",
                    running, ending);
  } else if (code >= 0) {
    line = fmt::format("onedim: a pack's code at the end of the process: it {}", ending);
  }
  wipe_line_of_child();
  std::fprintf(stderr, "%s\n", one_line(line).c_str());
  const bool is_ours = running.empty() && code < 0;
  return static_cast<int>(is_ours ? ExitCode::kEnvironment : ExitCode::kFindings);
}

[[noreturn]] void wait_for_child() {
  pass_signals_on();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (was_ended_from_outside(status)) {
    std::signal(WTERMSIG(status), SIG_DFL);
    std::raise(WTERMSIG(status));
  }
  std::_Exit(code_after(status));
}

}  // namespace

void run_on_in_child() {
  void* const memory =
      ::mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  record = new (memory) Record;
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  child = ::fork();
  if (child > 0) wait_for_child();
  if (child < 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) std::_Exit(static_cast<int>(ExitCode::kEnvironment));
  set_foreign_call_place(&record->running);
}

void command_has_ended(int code) {
  if (record != nullptr) record->code = code;
}

}  // namespace onedim
