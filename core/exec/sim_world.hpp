#pragma once
// SimWorld: all ranks of a mesh in one process, the back end `sim` and the oracle of all others. A
// collective is carried out by the member that comes last, in rank order, so results do not depend
// on how the ranks take turns. Ranks may be run in step by one thread, each posting a stage before
// any waits; then a rank that misses a collective is an error at the first wait. Or each has a
// thread of its own: then waits end at the deadline, with a status that says who is missing and
// where that rank is.

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "core/exec/fault.hpp"

namespace onedim {

struct SimOptions {
  bool has_threads = false;  // one a rank: waits block
  std::chrono::milliseconds deadline{60000};
  std::optional<Fault> fault = {};
};

class SimWorld {
 public:
  explicit SimWorld(Mesh mesh, SimOptions options = {});
  ~SimWorld();

  const Mesh& mesh() const { return mesh_; }
  bool has_threads() const { return options_.has_threads; }
  // Lives as long as the world.
  Communicator& communicator(int64_t rank);
  // All waits, now and later, end with this status: a rank has failed by itself.
  void abort(const Status& why);

 private:
  class Rank;
  struct Meeting {
    Team team;
    std::vector<const CollectiveCall*> calls;  // by place; null: has not come
    int64_t come = 0;
    bool is_done = false;
    Status status;
  };
  // Mesh dims, first rank of the team, number of the call among the team's.
  using Key = std::tuple<MeshDimSet, int64_t, int64_t>;

  Status post(Rank& rank, const CollectiveCall& call);
  Status wait(Rank& rank);
  Status missing(const Rank& rank, const Meeting& meeting) const;

  Mesh mesh_;
  SimOptions options_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::unique_ptr<FaultyCommunicator> faulty_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::map<Key, std::shared_ptr<Meeting>> meetings_;  // that lack a member
  Status aborted_;
};

}  // namespace onedim
