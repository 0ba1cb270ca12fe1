#include "core/cost/collective.hpp"

#include <array>

namespace onedim {
namespace {

constexpr std::array<std::string_view, kCollectiveCount> kNames = {
    "all_gather", "reduce_scatter", "all_reduce", "all_to_all", "broadcast"};

}  // namespace

std::string_view collective_name(Collective collective) {
  return kNames[static_cast<size_t>(collective)];
}

std::optional<Collective> find_collective(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Collective>(i);
  }
  return std::nullopt;
}

}  // namespace onedim
