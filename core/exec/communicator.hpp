#pragma once
// Communicator: how one rank takes part in collectives. It is the whole of what a back end offers:
// `sim` holds all ranks in one process (sim_world.hpp); one with a process per rank answers for its
// own. What a collective does, and the check that its members agree, is collective_call.hpp's.
//
// Every call is collective over a team, the ranks that differ only in the call's mesh dims: all of
// a team post the same calls in the same order, also where a rank has nothing to give or to get. A
// call is in flight from `post` to `wait`; in between its buffers belong to the communicator.
//
// Threads: a communicator is used by one thread at a time. Ownership: it borrows calls until `wait`
// and keeps no tensor after. Errors: every member of a team gets the same status, which names op,
// tensor, layouts, mesh dims and ranks; after an error the communicator is of no use, and its
// buffers hold anything.

#include "core/redistribute/collective_call.hpp"

namespace onedim {

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual const Mesh& mesh() const = 0;
  virtual int64_t rank() const = 0;

  // Starts a call. Fails at once where the call is not whole in itself (check_call).
  virtual Status post(const CollectiveCall& call) = 0;
  // Until all that this rank has posted is done.
  virtual Status wait() = 0;
};

}  // namespace onedim
