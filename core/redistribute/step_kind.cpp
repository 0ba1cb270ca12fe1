#include "core/redistribute/step_kind.hpp"

#include <array>

namespace onedim {

std::string_view step_kind_name(StepKind kind) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "all_gather",   "reduce_scatter", "all_reduce", "all_to_all",       "slice",
      "fill_partial", "alias",          "scale",      "shard_to_partial", "reorder"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace onedim
