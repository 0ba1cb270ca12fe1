#pragma once
// Error: what callbacks of a pack throw; the wrapper turns it into a status with its text, which
// says what was wrong and what was expected.

#include <onedim/pack.h>
#include <onedim/inline.hpp>

#include <string>
#include <utility>

namespace onedim::api {

struct Error {
  int32_t status = ONEDIM_STATUS_INVALID_ARGUMENT;
  std::string text;
};
[[noreturn]] inline void fail(std::string text, int32_t status = ONEDIM_STATUS_INVALID_ARGUMENT) {
  throw Error{status, std::move(text)};
}
ONEDIM_INLINE void require(bool condition, const char* text) {
  if (!condition) fail(text);
}

}  // namespace onedim::api
