#include "core/exec/watchdog.hpp"

#include <unistd.h>

#include <csignal>

namespace onedim {
namespace {

constexpr int64_t kTickNs = 20'000'000;
// For a wait that looks at the clock itself to end first, in order.
constexpr int64_t kGraceNs = 1'000'000'000;
// For other ranks' ends to be seen behind a SIGTERM that they have brought about.
constexpr int kTicksAfterSignal = 15;

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

void Watchdog::block_signals() {
  const sigset_t signals = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Watchdog::Watchdog(ControlChannel& channel, LastWords last_words)
    : channel_(channel), last_words_(std::move(last_words)) {
  block_signals();
  thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  is_over_ = true;
  thread_.join();
  const sigset_t signals = ending_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void Watchdog::watch() {
  const sigset_t signals = ending_signals();
  const timespec tick{0, kTickNs};
  int64_t failed_since_ns = 0;
  while (!is_over_) {
    if (::sigtimedwait(&signals, nullptr, &tick) == SIGTERM) {
      for (int i = 0; i < kTicksAfterSignal && find_lost_rank(channel_.records()) < 0; ++i)
        ::usleep(kTickNs / 1000);
      const bool is_lost = find_lost_rank(channel_.records()) >= 0;
      end(is_lost ? channel_.stall() : "it was ended by SIGTERM");
    }
    const int64_t begin = channel_.header().waits_since_ns, now = steady_ns();
    const bool is_failed = begin != 0 && (find_lost_rank(channel_.records()) >= 0 ||
                                          !reported_stall(channel_.records()).empty());
    if (!is_failed) failed_since_ns = 0;
    if (is_failed && failed_since_ns == 0) failed_since_ns = now;
    const bool is_over_time = (begin != 0 && now - begin > channel_.limit_ns() + kGraceNs) ||
                              (failed_since_ns != 0 && now - failed_since_ns > kGraceNs);
    if (is_over_time && !is_over_) end(channel_.stall());
  }
}

void Watchdog::end(std::string_view why) {
  const bool tells = channel_.claim_report();
  channel_.fail(why);
  last_words_(tells ? why : "", channel_.options().folder);
  ::_exit(kExitCode);
}

}  // namespace onedim
