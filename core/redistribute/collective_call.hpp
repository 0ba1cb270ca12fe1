#pragma once
// CollectiveCall: one rank's side of one collective as plain data: what it gives to and gets from
// each member of its team, as pieces of two flat buffers. `run_collective` is what collectives
// mean: it carries one out between buffers of one process, in rank order; every communicator's
// result is held against it. Counts may differ from member to member.
//
//   all_gather      gives one piece to all           gets one of each member
//   reduce_scatter  gives one to each member         gets one: its own, reduced over all
//   all_reduce      gives one                        gets one: reduced over all
//   all_to_all      gives one to each member         gets one of each member
//   broadcast       the root gives one               gets one
//
// A permutation is an all_to_all in which each rank gives one piece to one rank, all others empty.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/redistribute/plan.hpp"
#include "core/redistribute/team.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

// Elements of a flat buffer.
struct Piece {
  int64_t offset = 0;
  int64_t count = 0;
  bool operator==(const Piece&) const = default;
};

struct CollectiveCall {
  Collective kind = Collective::kAllGather;
  MeshDimSet mesh_dims = 0;
  Tensor send;     // both of one dim without gaps, of one dtype; they do not overlap
  Tensor receive;  // written where the pieces say, and nowhere else
  std::vector<Piece> sends;
  std::vector<Piece> receives;
  std::string_view
      reduction;        // a built-in partial kind legal for the dtype, or ""; sum for avg too
  int64_t divisor = 1;  // of a sum, at its end
  int64_t root = 0;     // its place in the team
  // For messages: `mm, input 0` and the step of its plan, borrowed.
  std::string_view subject;
  const PlanStep* step = nullptr;
};

// One that gives `sent` to the member at `target` and gets `received` of that at `source`; -1:
// nothing. The pieces lie at the buffers' begin.
CollectiveCall make_permutation(MeshDimSet mesh_dims, const Tensor& send, int64_t target,
                                const Tensor& receive, int64_t source, int64_t team_size);

// `mm, input 0: all_gather over a, S(0) -> R`.
std::string describe_call(const CollectiveCall& call, const Mesh& mesh);
// `rank 5 at [1,2]`.
std::string describe_rank(const Mesh& mesh, int64_t rank);

// Whether the call is whole in itself, for a rank at `team.place`.
Status check_call(const CollectiveCall& call, const Mesh& mesh, const Team& team);
// Carries it out; `members` in the order of the team, whose `place` does not count. Nothing is
// written where they do not agree: the error names the first two ranks that differ, and what in.
Status run_collective(const Mesh& mesh, const Team& team,
                      std::span<const CollectiveCall* const> members);

// What a reduction of that call makes of the members' parts, in the order of the team.
Tensor reduce_parts(const CollectiveCall& call, std::span<const Tensor> parts);

// The elements of a flat buffer that a piece names.
Tensor piece_of(const Tensor& buffer, const Piece& piece);

}  // namespace onedim
