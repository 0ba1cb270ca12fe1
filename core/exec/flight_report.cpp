#include "core/exec/flight_report.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/exec/process_state.hpp"
#include "core/redistribute/collective_call.hpp"

namespace onedim {
namespace {

enum class Standing { kWaits, kWorks, kStopped, kEnded, kFailed, kGone, kUnknown };

// The call that a rank is in, or null.
const FlightCall* current_call(const FlightRecord& record) {
  const uint64_t next = record.header().done.load(std::memory_order_acquire) + 1;
  if (next > record.header().posted.load(std::memory_order_acquire)) return nullptr;
  const FlightCall& call = record.call(next);
  return call.number == next ? &call : nullptr;
}

struct RankView {
  int64_t rank = 0;
  const FlightRecord* record = nullptr;
  Standing standing = Standing::kUnknown;
  const FlightCall* call = nullptr;  // that it waits in
  bool is_behind = false;

  const FlightHeader& header() const { return record->header(); }
  bool waits() const { return standing == Standing::kWaits; }
  bool is_lost() const { return standing == Standing::kGone || standing == Standing::kFailed; }
};

Standing standing_of(const FlightHeader& header) {
  const RankPhase phase = header.phase;
  const bool waits = header.waits_since_ns != 0;
  if (phase == RankPhase::kEnded) return Standing::kEnded;
  if (phase == RankPhase::kFailed) return waits ? Standing::kWaits : Standing::kFailed;
  switch (state_of_process(header.process, header.process_start)) {
    case ProcessState::kGone:
      return Standing::kGone;
    case ProcessState::kStopped:
      return Standing::kStopped;
    case ProcessState::kRuns:
      break;
  }
  return waits ? Standing::kWaits : Standing::kWorks;
}

std::vector<RankView> view_ranks(FlightRecords records) {
  std::vector<RankView> views(records.size());
  for (size_t rank = 0; rank < records.size(); ++rank) {
    views[rank].rank = static_cast<int64_t>(rank);
    views[rank].record = records[rank].get();
    if (records[rank] == nullptr) continue;
    views[rank].standing = standing_of(records[rank]->header());
    views[rank].call = current_call(*records[rank]);
  }
  return views;
}

// Whether `other` keeps `waiting` from going on.
bool is_missing(const RankView& waiting, const RankView& other) {
  if (other.record == nullptr || other.is_lost()) return true;
  const FlightCall* const call = waiting.call;
  if (call == nullptr) return other.header().agreed < waiting.header().agreed;
  if (call->mesh_dims >= kMeshDimSets) return false;
  if (other.header().team_posted[call->mesh_dims] <= call->team_number) return true;
  // All are there; then one that is not through, and does not go on by itself.
  if (call->state != CallState::kStarted) return false;
  const FlightCall* const theirs = other.record->find(call->mesh_dims, call->team_number);
  if (theirs == nullptr || theirs->state == CallState::kDone) return false;
  return !other.waits() || theirs->state == CallState::kPosted;
}

std::vector<int64_t> members_of(const Mesh& mesh, const RankView& waiting) {
  const bool is_known = waiting.call != nullptr && waiting.call->mesh_dims != 0 &&
                        (waiting.call->mesh_dims >> mesh.ndim()) == 0;
  if (is_known) return team_of(mesh, waiting.call->mesh_dims, waiting.rank).ranks;
  std::vector<int64_t> all;
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) all.push_back(rank);
  return all;
}

// Those for whom others wait and who do not wait themselves; of ranks that only wait for one
// another, all.
void mark_behind(const Mesh& mesh, std::vector<RankView>& views) {
  std::vector<size_t> missing;
  for (const RankView& waiting : views) {
    if (!waiting.waits()) continue;
    for (const int64_t member : members_of(mesh, waiting)) {
      const RankView& other = views[static_cast<size_t>(member)];
      if (member != waiting.rank && is_missing(waiting, other))
        missing.push_back(static_cast<size_t>(member));
    }
  }
  for (RankView& view : views) view.is_behind = view.is_lost();
  const bool is_lost =
      std::any_of(views.begin(), views.end(), [](const RankView& view) { return view.is_behind; });
  if (is_lost) return;
  for (const size_t rank : missing) views[rank].is_behind = !views[rank].waits();
  const bool is_told =
      std::any_of(views.begin(), views.end(), [](const RankView& view) { return view.is_behind; });
  if (is_told) return;
  for (const size_t rank : missing) views[rank].is_behind = true;
}

std::string last_call(const FlightRecord& record) {
  const uint64_t posted = record.header().posted;
  if (posted == 0) return "it has come to no collective";
  return fmt::format("it was last in {} (call {})", text_of(record.call(posted).text), posted);
}

std::string place_of(const RankView& view) {
  const FlightHeader& header = view.header();
  if (view.call != nullptr) {
    return fmt::format("{} in {} (call {})", view.waits() ? "it waits" : "it was",
                       text_of(view.call->text), header.done + 1);
  }
  if (header.waits_since_ns != 0) return fmt::format("it waits in {}", text_of(header.activity));
  return last_call(*view.record);
}

std::string why_behind(const RankView& view) {
  if (view.record == nullptr) return "it has no flight record";
  const FlightHeader& header = view.header();
  switch (view.standing) {
    case Standing::kGone:
      return fmt::format("its process {} is gone", header.process);
    case Standing::kStopped:
      return fmt::format("its process {} is stopped", header.process);
    case Standing::kEnded:
      return "it has ended";
    case Standing::kFailed:
      return fmt::format("it failed: {}", text_of(header.failure));
    case Standing::kWorks:
      return "it is at work by itself";
    default:
      return "it waits for others";
  }
}

double waits_s(const FlightHeader& header) {
  const bool has_ended = header.phase == RankPhase::kFailed;
  const int64_t end = has_ended ? header.failed_ns : steady_ns();
  return static_cast<double>(end - header.waits_since_ns) / 1e9;
}

// The call that a rank behind has not come to, or does not get through, and who waits in it.
std::string missed_by(const Mesh& mesh, std::span<const RankView> views, const RankView& behind) {
  for (const RankView& waiting : views) {
    if (!waiting.waits() || waiting.call == nullptr || waiting.rank == behind.rank) continue;
    const std::vector<int64_t> members = members_of(mesh, waiting);
    if (std::find(members.begin(), members.end(), behind.rank) == members.end() ||
        !is_missing(waiting, behind))
      continue;
    return fmt::format("; {} has waited {:.1f} s for it in {} (call {})",
                       describe_rank(mesh, waiting.rank), waits_s(waiting.header()),
                       text_of(waiting.call->text), waiting.header().done + 1);
  }
  for (const RankView& waiting : views) {
    if (!waiting.waits() || waiting.call != nullptr || waiting.rank == behind.rank) continue;
    return fmt::format("; {} has waited {:.1f} s for it in {}", describe_rank(mesh, waiting.rank),
                       waits_s(waiting.header()), text_of(waiting.header().activity));
  }
  return "";
}

constexpr size_t kMostNamed = 4;

}  // namespace

int64_t find_lost_rank(FlightRecords records) {
  for (size_t rank = 0; rank < records.size(); ++rank) {
    if (records[rank] == nullptr) continue;
    const Standing standing = standing_of(records[rank]->header());
    if (standing == Standing::kGone || standing == Standing::kFailed)
      return static_cast<int64_t>(rank);
  }
  return -1;
}

std::string describe_stall(const Mesh& mesh, FlightRecords records) {
  std::vector<RankView> views = view_ranks(records);
  mark_behind(mesh, views);
  std::string text;
  size_t named = 0, waiting = 0;
  for (const RankView& view : views) {
    waiting += view.waits() ? 1 : 0;
    if (!view.is_behind || ++named > kMostNamed) continue;
    text += fmt::format("{}{} is behind: {}", text.empty() ? "" : "; ",
                        describe_rank(mesh, view.rank), why_behind(view));
    if (view.record != nullptr) text += ", " + place_of(view);
    text += missed_by(mesh, views, view);
  }
  if (named > kMostNamed) text += fmt::format("; so are {} more", named - kMostNamed);
  if (named > 0) return text + fmt::format("; {} of {} ranks wait", waiting, views.size());
  for (const RankView& view : views) {
    if (!view.waits() || ++named > kMostNamed) continue;
    text += fmt::format("{}{} has waited {:.1f} s, {}", text.empty() ? "" : "; ",
                        describe_rank(mesh, view.rank), waits_s(view.header()), place_of(view));
  }
  return text;
}

std::string describe_ranks(const Mesh& mesh, FlightRecords records) {
  std::string text;
  for (const RankView& view : view_ranks(records)) {
    text += describe_rank(mesh, view.rank);
    if (view.record == nullptr) {
      text += ": no flight record\n";
      continue;
    }
    const FlightHeader& header = view.header();
    const std::string ending = view.standing == Standing::kWaits && header.failure[0] != '\0'
                                   ? "it gave up waiting"
                                   : why_behind(view);
    text += fmt::format(", process {}: {}; {} calls posted, {} done; {}\n", header.process, ending,
                        header.posted.load(), header.done.load(), place_of(view));
  }
  return text;
}

std::string reported_stall(FlightRecords records) {
  if (records.empty() || records[0] == nullptr) return "";
  const uint32_t reporter = records[0]->header().reporter;
  if (reporter == 0 || reporter > records.size() || records[reporter - 1] == nullptr) return "";
  return std::string(text_of(records[reporter - 1]->header().failure));
}

Result<RunRecords> read_records(const std::string& folder) {
  std::vector<std::unique_ptr<FlightRecord>> records;
  std::string mesh_text;
  int ranks = 1;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string file = FlightRecord::file_of(folder, rank);
    std::error_code error;
    if (!std::filesystem::exists(file, error) && rank > 0) {
      records.push_back(nullptr);
      continue;
    }
    if (!std::filesystem::exists(file, error))
      return absl::NotFoundError(fmt::format("{}: there is no flight record of rank 0", folder));
    Result<std::unique_ptr<FlightRecord>> record = FlightRecord::open(file);
    if (!record.ok()) return record.status();
    if (rank == 0) {
      ranks = (*record)->header().ranks;
      mesh_text = text_of((*record)->header().mesh);
    }
    records.push_back(*std::move(record));
  }
  Result<Mesh> mesh = Mesh::parse(mesh_text);
  if (!mesh.ok() || mesh->rank_count() != ranks) {
    return absl::FailedPreconditionError(
        fmt::format("{}: the flight record of rank 0 has no mesh of its {} ranks", folder, ranks));
  }
  return RunRecords{*std::move(mesh), std::move(records)};
}

}  // namespace onedim
