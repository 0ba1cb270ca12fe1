#pragma once
// Status and Result<T>: how every function of core reports bad input. A status carries a code and
// one line that says what was wrong, where, what was expected and what to do; it is never thrown.
// Exceptions of libraries are caught at the wrapper that calls them.

#include <fmt/format.h>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <utility>

namespace onedim {

using Status = absl::Status;
template <typename T>
using Result = absl::StatusOr<T>;

// The caller's input is wrong; `format` and `args` as in fmt::format.
template <typename... Args>
Status invalid_argument(fmt::format_string<Args...> format, Args&&... args) {
  return absl::InvalidArgumentError(fmt::format(format, std::forward<Args>(args)...));
}

// Right, but not offered: a dtype without a kernel, a data-dependent shape.
template <typename... Args>
Status unimplemented(fmt::format_string<Args...> format, Args&&... args) {
  return absl::UnimplementedError(fmt::format(format, std::forward<Args>(args)...));
}

// The message, as the standard's string_view: absl's own may be another type.
inline std::string_view message_of(const Status& status) {
  return {status.message().data(), status.message().size()};
}

// The message with `context` in front, the code kept.
Status annotate(const Status& status, std::string_view context);

}  // namespace onedim
