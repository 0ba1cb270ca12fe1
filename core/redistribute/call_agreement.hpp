#pragma once
// Call agreement: do the members of a team call one collective, with pieces that fit? It is told
// from the shapes of the calls alone, so it can be told where the buffers are elsewhere. The error
// names the first two ranks that differ, and what in; it is the same on every member.

#include "core/redistribute/collective_call.hpp"

namespace onedim {

// What a member's call has to agree on, all borrowed. Of pieces only the counts matter.
struct CallShape {
  Collective kind = Collective::kAllGather;
  MeshDimSet mesh_dims = 0;
  DType dtype = DType::kF32;
  std::string_view reduction;
  int64_t divisor = 1;
  int64_t root = 0;
  std::span<const Piece> sends;
  std::span<const Piece> receives;
  // For messages: the call, or where that is elsewhere, what describe_call makes of it.
  const CollectiveCall* call = nullptr;
  std::string_view text;
};

CallShape shape_of(const CollectiveCall& call);

// Whether members of that kind give, and get, one piece for each member or only one.
bool gives_to_each(Collective kind);
bool gets_of_each(Collective kind);
bool reduces(Collective kind);

// Each shape belongs to a call that check_call accepted; `members` in the order of the team.
Status check_agreement(const Mesh& mesh, const Team& team, std::span<const CallShape> members);

}  // namespace onedim
