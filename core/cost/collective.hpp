#pragma once
// Collective: the communication steps that cost models price and communicators run, and the byte
// count that each is priced by: the larger of a rank's two buffers, with padding where shards are
// uneven. So all-gather counts what it gathers, reduce-scatter what it starts from, all-reduce and
// broadcast the tensor, all-to-all the local tensor.

#include <cstdint>
#include <optional>
#include <string_view>

namespace onedim {

enum class Collective : uint8_t { kAllGather, kReduceScatter, kAllReduce, kAllToAll, kBroadcast };
inline constexpr int kCollectiveCount = 5;

// `all_gather`, as in cluster files and plans.
std::string_view collective_name(Collective collective);

// A set of mesh dims, bit d for mesh dim d. A collective over several is one over the flattened
// group.
using MeshDimSet = uint32_t;

// The collective of that name, or none.
std::optional<Collective> find_collective(std::string_view name);

}  // namespace onedim
