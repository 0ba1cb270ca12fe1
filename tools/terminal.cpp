#include "tools/terminal.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace onedim {
namespace {

constexpr std::string_view kWipe = "\r\033[K";
volatile std::sig_atomic_t progress_is_shown = 0;

void write_terminal(std::string_view text) {
  // A terminal that cannot be written has no one to tell.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

extern "C" void wipe_and_die(int signal) {
  if (progress_is_shown != 0) write_terminal(kWipe);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

bool can_wipe() {
  const char* kind = std::getenv("TERM");
  const std::string_view name = kind == nullptr ? "" : kind;
  return !name.empty() && name != "dumb" && isatty(STDERR_FILENO) != 0;
}

bool terminal_is_ready() {
  static const bool ready = [] {
    if (!can_wipe()) return false;
    for (const int signal : {SIGINT, SIGTERM}) {
      // A shell that ignores Ctrl-C for a background job means it.
      if (std::signal(signal, wipe_and_die) == SIG_IGN) std::signal(signal, SIG_IGN);
    }
    return true;
  }();
  return ready;
}

}  // namespace

void show_progress(std::string_view text) {
  if (!terminal_is_ready()) return;
  progress_is_shown = 1;
  write_terminal(std::string(kWipe) + std::string(text));
}

void clear_progress() {
  if (progress_is_shown == 0) return;
  write_terminal(kWipe);
  progress_is_shown = 0;
}

void wipe_line_of_child() {
  if (can_wipe()) write_terminal(kWipe);
}

}  // namespace onedim
