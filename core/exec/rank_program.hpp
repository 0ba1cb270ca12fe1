#pragma once
// RankProgram: what one rank does in a run, as stages that all ranks have in common. A stage posts
// in `begin` and waits in `end`, so that one thread can take all ranks through it in step; a thread
// per rank, or a process per rank, just does one after the other. Whatever the way, ranks compute
// the same.

#include <span>

#include "core/exec/sim_world.hpp"

namespace onedim {

class RankProgram {
 public:
  virtual ~RankProgram() = default;
  virtual size_t stage_count() const = 0;  // the same on all ranks
  virtual Status begin(size_t stage) = 0;
  virtual Status end(size_t stage) = 0;
};

// One rank by itself.
Status run_rank(RankProgram& program);
// All ranks of the world, one program each in rank order, in the way that the world's options say.
// The status is that of the first rank that fails by itself.
Status run_ranks(SimWorld& world, std::span<RankProgram* const> programs);

}  // namespace onedim
