#pragma once
// In flight: which call this process judges, so that a crash or a hang can be told with a command
// that shows it again. A scope per call of a case; the world is noted within it at no cost. A
// worker tells it to its parent: at once when a signal or an `exit` ends the process, else every
// tenth of a second if it has changed, for a parent that will end a process that hangs.

#include <cstdint>
#include <string>
#include <string_view>

namespace onedim {

class InFlight {
 public:
  // The call as on the command line; `claim` is empty where the op's own rules are judged.
  InFlight(std::string_view op, std::string_view call, std::string_view claim, int64_t first_world,
           uint64_t seed);
  // What is judged, and the command that judges it again, whatever the world.
  InFlight(std::string_view what, std::string_view command);
  ~InFlight();
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  // The world that this thread's innermost scope is at.
  static void at_world(int64_t world);

 private:
  void begin(int64_t world);

  std::string before_, between_, after_;  // the line around two mentions of the world
  bool names_world_ = true;               // false: `before_` is the line
  const InFlight* outer_ = nullptr;       // of this thread
  friend class Flights;
};

// From here on, to `file`, one line of JSON each time: `{"in_flight": "..."}`. Nothing is written
// while no scope lives. Once a process.
void report_in_flight(int file);

}  // namespace onedim
