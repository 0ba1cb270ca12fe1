#include "core/base/status.hpp"

namespace onedim {

Status annotate(const Status& status, std::string_view context) {
  if (status.ok()) return status;
  return Status(status.code(), fmt::format("{}: {}", context, message_of(status)));
}

}  // namespace onedim
