#include "core/exec/control_channel.hpp"

#include <absl/container/inlined_vector.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "core/base/input_file.hpp"
#include "core/base/output_file.hpp"

namespace onedim {
namespace {

using std::memory_order_acquire;
using std::memory_order_release;

constexpr int kSpins = 200;             // looks before the core is given to another process
constexpr int64_t kBusyNs = 2'000'000;  // of such looks; then the rank sleeps between them
constexpr useconds_t kSleepUs = 200;
constexpr int64_t kLookAroundNs = 20'000'000;  // between looks for lost ranks

constexpr int64_t kStartNs = 30'000'000'000;

int64_t to_ns(std::chrono::milliseconds time) { return std::chrono::nanoseconds(time).count(); }

std::string description_file(const std::string& folder, int64_t rank, uint64_t round) {
  return fmt::format("{}/rank-{}.run-{}", folder, rank, round);
}

// What a rank has written of a call, its pieces included.
struct ReadCall {
  CallShape shape;
  absl::InlinedVector<Piece, 8> pieces;
};

// Into `read`, which stays where it is: the shape points to the pieces.
void read_call(FlightRecord& record, const FlightCall& call, ReadCall& read) {
  const int64_t* counts = record.counts_of(const_cast<FlightCall&>(call));
  for (int32_t i = 0; i < call.send_count + call.receive_count; ++i)
    read.pieces.push_back({0, counts[i]});
  const std::span<const Piece> pieces(read.pieces);
  read.shape.kind = static_cast<Collective>(call.kind);
  read.shape.mesh_dims = call.mesh_dims;
  read.shape.dtype = static_cast<DType>(call.dtype);
  read.shape.reduction = text_of(call.reduction);
  read.shape.divisor = call.divisor;
  read.shape.root = call.root;
  read.shape.sends = pieces.first(static_cast<size_t>(call.send_count));
  read.shape.receives = pieces.subspan(static_cast<size_t>(call.send_count));
  read.shape.text = text_of(call.text);
}

bool has_failed(FlightRecords records) {
  return std::any_of(records.begin(), records.end(), [](const auto& record) {
    return record->header().phase.load(std::memory_order_relaxed) == RankPhase::kFailed;
  });
}

int64_t bytes_of(const Tensor& buffer) { return buffer.element_count() * size_of(buffer.dtype()); }

void write_call(FlightRecord& record, FlightCall& to, const CollectiveCall& call) {
  to.mesh_dims = call.mesh_dims;
  to.kind = static_cast<uint32_t>(call.kind);
  to.dtype = static_cast<uint32_t>(call.send.dtype());
  to.divisor = call.divisor;
  to.root = call.root;
  to.reach = std::max(bytes_of(call.send), bytes_of(call.receive));
  to.send_count = static_cast<int32_t>(call.sends.size());
  to.receive_count = static_cast<int32_t>(call.receives.size());
  set_text(to.reduction, call.reduction);
  int64_t* counts = record.counts_of(to);
  for (const Piece& piece : call.sends) *counts++ = piece.count;
  for (const Piece& piece : call.receives) *counts++ = piece.count;
}

// The text of describe_call.
void write_words(FlightCall& to, std::string_view subject, std::string_view words) {
  if (!subject.empty() && subject.size() + 2 < sizeof(to.text)) {
    set_text(to.text, subject);
    set_text(to.text + subject.size(), sizeof(to.text) - subject.size(), ": ");
    set_text(to.text + subject.size() + 2, sizeof(to.text) - subject.size() - 2, words);
  } else {
    set_text(to.text, words);
  }
}

}  // namespace

std::string_view ControlChannel::words_of(const CollectiveCall& call) {
  const auto describe = [&] {
    CollectiveCall nameless = call;
    nameless.subject = "";
    return describe_call(nameless, mesh_);
  };
  if (call.step == nullptr) return words_ = describe();
  // A step whose kind of pack reduces calls another collective than its own; but always that one.
  StepWords& known = step_words_[call.step];
  if (known.words.empty() || known.step != *call.step) known = {*call.step, describe()};
  return known.words;
}

ControlChannel::ControlChannel(Mesh mesh, int64_t rank, ChannelOptions options)
    : mesh_(std::move(mesh)),
      rank_(rank),
      options_(std::move(options)),
      limit_ns_(to_ns(options_.deadline)) {}

ControlChannel::~ControlChannel() = default;

Result<std::unique_ptr<ControlChannel>> ControlChannel::open(Mesh mesh, int64_t rank,
                                                             ChannelOptions options) {
  std::unique_ptr<ControlChannel> channel(
      new ControlChannel(std::move(mesh), rank, std::move(options)));
  const auto ranks = static_cast<int>(channel->mesh_.rank_count());
  const std::string file = FlightRecord::file_of(channel->options_.folder, static_cast<int>(rank));
  Result<std::unique_ptr<FlightRecord>> own =
      FlightRecord::create(file, static_cast<int>(rank), ranks, channel->mesh_.format());
  if (!own.ok()) return own.status();
  channel->records_.resize(static_cast<size_t>(ranks));
  channel->records_[static_cast<size_t>(rank)] = *std::move(own);
  if (Status status = channel->open_others(); !status.ok()) return status;
  channel->header().phase = RankPhase::kRunning;
  return channel;
}

Status ControlChannel::open_others() {
  limit_ns_ = std::max(to_ns(options_.deadline), kStartNs);
  set_activity("the start of the run");
  Status failed;
  const auto all_are_open = [&] {
    for (size_t other = 0; other < records_.size(); ++other) {
      if (records_[other] != nullptr) continue;
      const std::string file = FlightRecord::file_of(options_.folder, static_cast<int>(other));
      if (std::error_code error; !std::filesystem::exists(file, error)) return false;
      Result<std::unique_ptr<FlightRecord>> record = FlightRecord::open(file);
      if (!record.ok()) {
        failed = record.status();
        return true;
      }
      records_[other] = *std::move(record);
    }
    return true;
  };
  if (Status status = wait_until(all_are_open); !status.ok()) return status;
  set_activity("");
  limit_ns_ = to_ns(options_.deadline);
  return failed;
}

template <typename IsDone>
Status ControlChannel::wait_until(IsDone is_done) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (is_done()) return {};
  }
  const int64_t begin = header().waits_since_ns;
  const int64_t deadline = begin + limit_ns_;
  int64_t look_around = steady_ns() + kLookAroundNs;
  while (!is_done()) {
    const int64_t now = steady_ns();
    if (now > deadline && is_done()) break;
    if (now > deadline) return absl::DeadlineExceededError(stall());
    if (now > look_around) {
      look_around = now + kLookAroundNs;
      // What it did before it was lost may have been enough.
      if (find_lost_rank(records_) >= 0 && !is_done()) return absl::UnavailableError(stall());
    }
    if (now - begin < kBusyNs)
      ::sched_yield();
    else
      ::usleep(kSleepUs);
  }
  return {};
}

Status ControlChannel::agree(const RunDescription& description) {
  FlightHeader& own = header();
  const uint64_t round = own.agreed + 1;
  const std::string file = description_file(options_.folder, rank_, round);
  if (Status status = write_text_file(file, description.format()); !status.ok()) return status;
  set_activity("the agreement on what is run");
  own.agreed_value.store(description.fingerprint(), memory_order_release);
  own.agreed.store(round, memory_order_release);
  Status status = wait_until([&] {
    return std::all_of(records_.begin(), records_.end(), [&](const auto& record) {
      return record->header().agreed.load(memory_order_acquire) >= round;
    });
  });
  if (!status.ok()) return status;
  set_activity("");
  // A rank that is a round further has found this one to be the same on all.
  const bool is_same = std::all_of(records_.begin(), records_.end(), [&](const auto& record) {
    return record->header().agreed.load(memory_order_acquire) > round ||
           record->header().agreed_value.load(memory_order_acquire) == own.agreed_value;
  });
  if (is_same) return {};
  std::vector<RunDescription> ranks;
  for (size_t rank = 0; rank < records_.size(); ++rank) {
    const Result<std::string> text =
        read_text_file(description_file(options_.folder, static_cast<int64_t>(rank), round));
    if (!text.ok()) return text.status();
    ranks.push_back(RunDescription::parse(*text));
  }
  return check_same_run(mesh_, ranks);
}

Result<uint64_t> ControlChannel::post(const CollectiveCall& call) {
  FlightRecord& record = *records_[static_cast<size_t>(rank_)];
  FlightHeader& own = record.header();
  const uint64_t number = own.posted.load(std::memory_order_relaxed) + 1;
  FlightCall& slot = record.call(number);
  // The slot's last call must have been read by all of its team.
  if (slot.number != 0) {
    const Team readers = team_of(mesh_, slot.mesh_dims, rank_);
    set_activity("others, which have not read its earlier calls");
    Status status = wait_until([&] {
      return std::all_of(readers.ranks.begin(), readers.ranks.end(), [&](int64_t reader) {
        return records_[static_cast<size_t>(reader)]->header().team_checked[slot.mesh_dims].load(
                   memory_order_acquire) > slot.team_number;
      });
    });
    if (!status.ok()) return status;
    set_activity("");
  }
  slot.number.store(0, memory_order_release);
  write_call(record, slot, call);
  write_words(slot, call.subject, words_of(call));
  std::atomic<uint32_t>& team_posted = own.team_posted[call.mesh_dims];
  slot.team_number = team_posted.load(std::memory_order_relaxed);
  slot.state = CallState::kPosted;
  slot.posted_ns = steady_ns();
  slot.number.store(number, memory_order_release);
  own.posted.store(number, memory_order_release);
  team_posted.store(slot.team_number + 1, memory_order_release);
  return number;
}

Status ControlChannel::check_meeting(const CollectiveCall& call, const Team& team,
                                     uint32_t team_number, CallMeeting& meeting) {
  absl::InlinedVector<ReadCall, 4> read(team.ranks.size());
  absl::InlinedVector<CallShape, 4> shapes;
  for (size_t place = 0; place < read.size(); ++place) {
    const int64_t member = team.ranks[place];
    FlightRecord& record = *records_[static_cast<size_t>(member)];
    const FlightCall* const theirs = record.find(call.mesh_dims, team_number);
    if (theirs == nullptr) {
      return absl::InternalError(fmt::format("{}: the record of {} has lost the call",
                                             describe_call(call, mesh_),
                                             describe_rank(mesh_, member)));
    }
    meeting.reach = std::max(meeting.reach, theirs->reach);
    read_call(record, *theirs, read[place]);
    shapes.push_back(read[place].shape);
  }
  return check_agreement(mesh_, team, shapes);
}

Result<CallMeeting> ControlChannel::meet(uint64_t number, const CollectiveCall& call,
                                         const Team& team) {
  FlightRecord& record = *records_[static_cast<size_t>(rank_)];
  FlightCall& slot = record.call(number);
  record.header().waits_since_ns = steady_ns();
  Status status = wait_until([&] {
    return std::all_of(team.ranks.begin(), team.ranks.end(), [&](int64_t member) {
      return records_[static_cast<size_t>(member)]->header().team_posted[call.mesh_dims].load(
                 memory_order_acquire) > slot.team_number;
    });
  });
  if (!status.ok()) return status;
  CallMeeting meeting;
  status = check_meeting(call, team, slot.team_number, meeting);
  record.header().team_checked[call.mesh_dims].store(slot.team_number + 1, memory_order_release);
  if (!status.ok()) {
    record.header().waits_since_ns = 0;
    return status;
  }
  // One that had been stopped may come when the others have given up.
  if (has_failed(records_)) {
    const std::string told = reported_stall(records_);
    return absl::UnavailableError(told.empty() ? stall() : told);
  }
  slot.started_ns = steady_ns();
  slot.state = CallState::kStarted;
  return meeting;
}

void ControlChannel::done(uint64_t number) {
  FlightHeader& own = header();
  FlightCall& slot = records_[static_cast<size_t>(rank_)]->call(number);
  slot.done_ns = steady_ns();
  slot.state = CallState::kDone;
  own.done.store(number, memory_order_release);
  own.waits_since_ns = 0;
}

void ControlChannel::set_activity(std::string_view what) {
  FlightHeader& own = header();
  if (!what.empty()) set_text(own.activity, what);
  own.waits_since_ns = what.empty() ? 0 : steady_ns();
}

std::string ControlChannel::stall() const { return describe_stall(mesh_, records_); }

void ControlChannel::fail(std::string_view why) {
  FlightHeader& own = header();
  set_text(own.failure, why);
  own.failed_ns = steady_ns();
  own.phase = RankPhase::kFailed;
}

bool ControlChannel::claim_report() {
  if (records_[0] == nullptr) return true;
  uint32_t nobody = 0;
  return records_[0]->header().reporter.compare_exchange_strong(nobody,
                                                                static_cast<uint32_t>(rank_) + 1);
}

}  // namespace onedim
