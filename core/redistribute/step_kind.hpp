#pragma once
// StepKind: the single steps of redistribution. One step works on a set D of mesh dims, taken as
// one flattened group of w ranks. A state is a layout: one of R, S(d), SS(d,sf), P(kind) per mesh
// dim, and per tensor dim the order in which its mesh dims cut. D is *last* in a state if, on each
// tensor dim, the mesh dims of D cut after all others; only then do the ranks of a group own one
// common part, cut among themselves.
//
//   step              on D, from -> to     needs                      moves
//   all_gather        S -> R               D last                     padded where D cuts unevenly
//   reduce_scatter    P -> S               D becomes last             padded where D cuts unevenly
//   all_reduce        P -> R               one kind, or sum with avg
//   all_to_all        S -> S               D last before and after    exact parts (alltoallv)
//   slice             R -> S               D becomes last             nothing
//   fill_partial      R -> P(sum|product), P(pack.kind)               nothing; coordinate 0 keeps,
//                                                                     others take the identity
//   alias             R -> P(avg|max|min), or all_to_all that moves nothing
//   scale             P(sum) <-> P(avg)                               nothing; times or by w
//   shard_to_partial  S -> P(sum|product)  D last, only if allowed    nothing; identity elsewhere
//   reorder           any, D empty         another memory order       nothing; copies
//
// * S stands for S(d) and SS(d,sf) of any tensor dim; the dims of D may go to different tensor dims
//   and, on one, in any order. A mesh dim may take those SS only that it has in the source or the
//   target; the partial kinds are those of source and target. No two kinds stand together but sum
//   with avg.
// * Steps into S (reduce_scatter, all_to_all, slice) take any D on meshes of up to three dims (of
//   size above 1), else D of one or two dims, or any D that goes to one tensor dim, plain and in
//   ascending order. An all_to_all whose D could be smaller is no step.
// * On meshes of more than five dims (of size above 1; Planner::kMostFreeMeshDims) a mesh dim takes
// only R and what it has in
//   source or target.
// * Every state but the source obeys the policy; bytes of a step's memory stay within the cap.
//
// Kernels inside a step. Tensors are row-major at step ends; only where source or target have
// another memory order (memory_order.hpp) may they lie so between steps too. before(i) = product of
// a rank's lengths of the dims that lie outside of i in memory. A kernel that copies may write
// another order than it reads, all others keep it:
//   all_gather      unpacks unless D cuts one dim i, plain, ascending, even and before(i) = 1; pads
//                   (a copy of its part) where D cuts unevenly
//   reduce_scatter  packs unless D cuts one dim i as above
//   all_to_all      packs unless D ends in one dim j, plain, and before(j) = 1 in the source state;
//                   unpacks unless D began in one dim i, plain, and before(i) = 1 in the target's
//   slice           copies unless D cuts one dim i, plain, and before(i) = 1: then it is a view,
//                   which keeps its source's storage; under a memory cap it copies always
// P(pack.kind) reduces by its own combine: all_reduce then gathers the states of all ranks and
// merges them, reduce_scatter exchanges the parts (all-to-all) and merges them.

#include <cstdint>
#include <string_view>

namespace onedim {

enum class StepKind : uint8_t {
  kAllGather,
  kReduceScatter,
  kAllReduce,
  kAllToAll,
  kSlice,
  kFillPartial,
  kAlias,
  kScale,
  kShardToPartial,
  kReorder,
};

std::string_view step_kind_name(StepKind kind);  // `all_gather`
// Whether ranks communicate in it.
inline bool is_collective(StepKind kind) { return kind <= StepKind::kAllToAll; }

// Of two such kinds a local step makes either from the other, and one all_reduce reduces both.
inline bool is_linear_partial(std::string_view kind) { return kind == "sum" || kind == "avg"; }

}  // namespace onedim
