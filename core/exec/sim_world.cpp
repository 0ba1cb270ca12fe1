#include "core/exec/sim_world.hpp"

#include <algorithm>

namespace onedim {

class SimWorld::Rank : public Communicator {
 public:
  Rank(SimWorld& world, int64_t rank) : world_(world), rank_(rank) {}
  const Mesh& mesh() const override { return world_.mesh_; }
  int64_t rank() const override { return rank_; }
  Status post(const CollectiveCall& call) override { return world_.post(*this, call); }
  Status wait() override { return world_.wait(*this); }

 private:
  friend class SimWorld;
  SimWorld& world_;
  int64_t rank_;
  std::map<MeshDimSet, int64_t> posted_;  // calls so far, per team
  std::map<MeshDimSet, Team> teams_;
  std::vector<std::shared_ptr<Meeting>> in_flight_;
  std::string last_;  // the latest call: for messages
};

SimWorld::SimWorld(Mesh mesh, SimOptions options) : mesh_(std::move(mesh)), options_(options) {
  for (int64_t rank = 0; rank < mesh_.rank_count(); ++rank)
    ranks_.push_back(std::make_unique<Rank>(*this, rank));
  if (options_.fault && options_.fault->rank < mesh_.rank_count()) {
    faulty_ =
        std::make_unique<FaultyCommunicator>(*ranks_[static_cast<size_t>(options_.fault->rank)],
                                             *options_.fault, FaultScope::kSharedProcess);
  }
}

SimWorld::~SimWorld() = default;

Communicator& SimWorld::communicator(int64_t rank) {
  if (faulty_ != nullptr && faulty_->rank() == rank) return *faulty_;
  return *ranks_[static_cast<size_t>(rank)];
}

void SimWorld::abort(const Status& why) {
  const std::lock_guard lock(mutex_);
  if (aborted_.ok()) aborted_ = why;
  done_.notify_all();
}

Status SimWorld::post(Rank& rank, const CollectiveCall& call) {
  const bool is_known = call.mesh_dims != 0 && (call.mesh_dims >> mesh_.ndim()) == 0;
  if (!is_known) {
    return invalid_argument("{}: a collective needs mesh dims of {}",
                            describe_rank(mesh_, rank.rank_), mesh_.format());
  }
  Team& team = rank.teams_[call.mesh_dims];
  if (team.ranks.empty()) team = team_of(mesh_, call.mesh_dims, rank.rank_);
  if (Status status = check_call(call, mesh_, team); !status.ok()) return status;
  std::shared_ptr<Meeting> meeting;
  {
    const std::lock_guard lock(mutex_);
    const Key key{call.mesh_dims, team.ranks[0], rank.posted_[call.mesh_dims]++};
    std::shared_ptr<Meeting>& known = meetings_[key];
    if (known == nullptr) {
      known = std::make_shared<Meeting>();
      known->team = team;
      known->calls.resize(team.ranks.size(), nullptr);
    }
    meeting = known;
    meeting->calls[static_cast<size_t>(team.place)] = &call;
    rank.in_flight_.push_back(meeting);
    if (options_.has_threads) rank.last_ = describe_call(call, mesh_);
    if (++meeting->come < team.size()) return {};
    meetings_.erase(key);
  }
  Status status = run_collective(mesh_, team, meeting->calls);
  const std::lock_guard lock(mutex_);
  meeting->status = std::move(status);
  meeting->is_done = true;
  done_.notify_all();
  return {};
}

Status SimWorld::missing(const Rank& rank, const Meeting& meeting) const {
  const auto place = std::find_if(meeting.calls.begin(), meeting.calls.end(),
                                  [](const CollectiveCall* call) { return call != nullptr; });
  std::string text = fmt::format("{} waits in {}; not there:", describe_rank(mesh_, rank.rank_),
                                 describe_call(**place, mesh_));
  std::string_view separator = " ";
  for (size_t at = 0; at < meeting.calls.size(); ++at) {
    if (meeting.calls[at] != nullptr) continue;
    const Rank& other = *ranks_[static_cast<size_t>(meeting.team.ranks[at])];
    text += fmt::format("{}{}", separator, describe_rank(mesh_, other.rank_));
    separator = ", ";
    if (options_.has_threads)
      text += other.last_.empty() ? ", which has called nothing" : ", last in " + other.last_;
  }
  return options_.has_threads ? absl::DeadlineExceededError(text)
                              : absl::FailedPreconditionError(text);
}

Status SimWorld::wait(Rank& rank) {
  std::unique_lock lock(mutex_);
  const auto deadline = std::chrono::steady_clock::now() + options_.deadline;
  for (const std::shared_ptr<Meeting>& meeting : rank.in_flight_) {
    const auto is_over = [&] { return meeting->is_done || !aborted_.ok(); };
    if (options_.has_threads) done_.wait_until(lock, deadline, is_over);
    if (!meeting->is_done) return aborted_.ok() ? missing(rank, *meeting) : aborted_;
    if (!meeting->status.ok()) return meeting->status;
  }
  rank.in_flight_.clear();
  return {};
}

}  // namespace onedim
