#pragma once
// MpiWorld: this process as one rank of a run on MPI, from MPI's start to its end: the control
// channel, the watchdog, and the communicators of the run's teams, which are made once, in one
// order on all ranks, after these have agreed that they run the same.
//
// Threads: MPI is called from the thread that starts the world and uses it. After an error the
// ranks are no longer in step: the process tells why and ends by _exit, as no call of MPI, its end
// among them, need come back.

#include <functional>
#include <set>

#include "core/exec/fault.hpp"
#include "core/exec/mpi_communicator.hpp"
#include "core/exec/watchdog.hpp"

namespace onedim {

struct MpiOptions {
  std::string module;  // a file; "": beside this program
  std::string folder;  // of the run's records; "": a new one, removed after a run that went well
  std::chrono::milliseconds deadline{60000};  // of a wait for other ranks
  int64_t largest_count = INT32_MAX;          // bytes in one message of MPI
  std::optional<Fault> fault = {};            // of one of the ranks
};

class MpiWorld {
 public:
  // All ranks of `mesh`, each by itself a process that MPI's launcher has started; MPI must have as
  // many.
  static Result<std::unique_ptr<MpiWorld>> start(const Mesh& mesh, const MpiOptions& options,
                                                 Watchdog::LastWords last_words);
  ~MpiWorld();

  int64_t rank() const { return channel_->rank(); }
  const Mesh& mesh() const { return channel_->mesh(); }
  const std::string& folder() const { return channel_->options().folder; }
  Communicator& communicator() {
    return faulty_ != nullptr ? static_cast<Communicator&>(*faulty_) : *communicator_;
  }
  ControlChannel& channel() { return *channel_; }

  // Whether all ranks run the same, then a communicator for each set of mesh dims. The description
  // gets the versions of onedim and MPI itself.
  Status load(RunDescription description, const std::set<MeshDimSet>& mesh_dims);
  // Every rank's text, on every rank.
  Result<std::vector<std::string>> gather(const std::string& mine, std::string_view what);
  // One text for each rank; those that all ranks have for this one.
  Result<std::vector<std::string>> deal(std::span<const std::string> texts, std::string_view what);
  // The end, in order; the largest of all ranks' codes.
  Result<int> finish(int code);

 private:
  explicit MpiWorld(MpiModule module) : module_(module) {}
  Status check_place(const Mesh& mesh) const;
  Result<std::string> share_folder(const std::string& wanted);
  Status gather_bytes(const void* mine, int64_t bytes, std::span<const int64_t> all_bytes,
                      void* all, std::string_view what);

  MpiModule module_;
  bool owns_folder_ = false;
  std::unique_ptr<ControlChannel> channel_;
  std::unique_ptr<Watchdog> watchdog_;
  MpiCommunicator::Teams teams_;
  std::unique_ptr<MpiCommunicator> communicator_;
  std::unique_ptr<FaultyCommunicator> faulty_;
};

}  // namespace onedim
