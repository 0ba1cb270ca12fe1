#pragma once
// Control channel: how the ranks of a run, each a process of this machine, watch each other, beside
// whatever moves the data. Each has a flight record in the run's folder; before a collective begins
// its members see there that all have come to it, and that they agree. So a rank that lacks, or is
// at another call, is known by name, and nobody enters a call of MPI that cannot end.
//
// Waits end at the deadline, or as soon as a rank is lost. Threads: one uses it; a watchdog may
// call `stall`, `fail` and `claim_report` meanwhile.

#include <absl/container/flat_hash_map.h>

#include <chrono>

#include "core/exec/flight_report.hpp"
#include "core/exec/run_description.hpp"
#include "core/redistribute/call_agreement.hpp"

namespace onedim {

struct ChannelOptions {
  std::string folder;  // one a run; all ranks see it
  std::chrono::milliseconds deadline{60000};
};

// What the members of a call tell each other beyond that they agree.
struct CallMeeting {
  int64_t reach = 0;  // bytes of the largest buffer of any member
};

class ControlChannel {
 public:
  // Makes this rank's record and waits for all others'.
  static Result<std::unique_ptr<ControlChannel>> open(Mesh mesh, int64_t rank,
                                                      ChannelOptions options);
  ~ControlChannel();

  const Mesh& mesh() const { return mesh_; }
  int64_t rank() const { return rank_; }
  const ChannelOptions& options() const { return options_; }
  // How long this rank may wait now: until the deadline, or at the start, as processes do not start
  // together, for half a minute at least.
  int64_t limit_ns() const { return limit_ns_; }

  // Whether all ranks run the same; each calls it as often as the others.
  Status agree(const RunDescription& description);

  // A call that this rank is about to take part in; its number, from 1. Of the calls posted at most
  // `kMostInFlight` may not be done.
  static constexpr uint64_t kMostInFlight = kFlightCalls / 2;
  Result<uint64_t> post(const CollectiveCall& call);
  // Until all members have posted the call, and whether they agree. Calls are met in order.
  Result<CallMeeting> meet(uint64_t number, const CollectiveCall& call, const Team& team);
  void done(uint64_t number);

  // What the rank does from here on takes others, and has the deadline, without being a call; ""
  // ends it.
  void set_activity(std::string_view what);

  // The rank's record, also for the watchdog.
  FlightHeader& header() { return records_[static_cast<size_t>(rank_)]->header(); }
  const std::vector<std::unique_ptr<FlightRecord>>& records() const { return records_; }
  // Why this rank does not go on, for a status or the watchdog's last words.
  std::string stall() const;
  // The rank ends with that failure, in its record.
  void fail(std::string_view why);
  void end() { header().phase = RankPhase::kEnded; }
  // True for the one rank that is to tell the user.
  bool claim_report();

 private:
  ControlChannel(Mesh mesh, int64_t rank, ChannelOptions options);
  template <typename IsDone>
  Status wait_until(IsDone is_done);
  Status open_others();
  Status check_meeting(const CollectiveCall& call, const Team& team, uint32_t team_number,
                       CallMeeting& meeting);

  // What describe_call says behind the subject; remembered for the steps of plans, which come again
  // and again.
  std::string_view words_of(const CollectiveCall& call);

  struct StepWords {
    PlanStep step;  // another may come to stand at the same address
    std::string words;
  };

  Mesh mesh_;
  int64_t rank_;
  ChannelOptions options_;
  std::atomic<int64_t> limit_ns_;
  std::vector<std::unique_ptr<FlightRecord>> records_;  // by rank
  absl::flat_hash_map<const PlanStep*, StepWords> step_words_;
  std::string words_;  // of the latest call that belongs to no step
};

}  // namespace onedim
