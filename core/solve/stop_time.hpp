#pragma once
// Stop time: when work must end, whatever it has come to. Without one it never ends early. What was
// done when it struck depends on the machine, so it is thrown away.

#include <chrono>
#include <optional>

namespace onedim {

struct StopTime {
  std::optional<std::chrono::steady_clock::time_point> at;

  bool is_past() const { return at && std::chrono::steady_clock::now() >= *at; }
};

}  // namespace onedim
