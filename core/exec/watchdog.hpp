#pragma once
// Watchdog: a thread that ends this process, by _exit, when its rank waits in vain: a second after
// a wait's deadline, which a wait that can end by itself keeps before, or when a rank is lost while
// this one is inside a call that cannot be ended. SIGTERM, by which a launcher ends the ranks that
// are left, ends it too, but with the last word on why. It calls nothing of MPI.

#include <atomic>
#include <functional>
#include <thread>

#include "core/exec/control_channel.hpp"

namespace onedim {

class Watchdog {
 public:
  // Told before the end, with the run's folder; `why` is "" on ranks that are to say nothing.
  using LastWords = std::function<void(std::string_view why, const std::string& folder)>;
  static constexpr int kExitCode = 3;

  // SIGTERM in this thread, and those made later: before any other is made.
  static void block_signals();
  // The channel is borrowed.
  Watchdog(ControlChannel& channel, LastWords last_words);
  ~Watchdog();  // ends the watch

 private:
  void watch();
  [[noreturn]] void end(std::string_view why);

  ControlChannel& channel_;
  LastWords last_words_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace onedim
