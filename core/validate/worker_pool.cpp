#include "core/validate/worker_pool.hpp"

#include <poll.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/child_process.hpp"
#include "core/validate/worker.hpp"

namespace onedim {
namespace {

using Clock = std::chrono::steady_clock;

// Workers that end before they have answered anything, one after the other, before giving up.
constexpr int kMostFailedStarts = 3;

// A machine that is busy elsewhere must not change the report: beyond its deadline a worker goes on
// while it computes and has not had that much of a processor, but not for more than so many
// deadlines.
constexpr int kMostDeadlines = 10;
constexpr std::chrono::milliseconds kLongestIdle{2000};
constexpr int kLeastShare = 200;  // of a processor, to be computing: one in so many

class Pool {
 public:
  Pool(std::span<const OpRequest> requests, const PoolOptions& options)
      : requests_(requests), options_(options), reports_(requests.size()) {}

  Result<std::vector<OpReport>> run() {
    const size_t wanted = std::min<size_t>(std::max(options_.workers, 1), requests_.size());
    lanes_.resize(wanted);
    while (done_ < requests_.size()) {
      for (Lane& lane : lanes_) {
        if (Status status = feed(lane); !status.ok()) return status;
      }
      wait();
      if (failed_starts_ >= kMostFailedStarts)
        return absl::UnavailableError("workers " + last_ending_ + " as soon as they start");
    }
    return std::move(reports_);
  }

 private:
  struct Lane {
    std::optional<ChildProcess> worker;
    std::optional<size_t> request;  // the one being judged
    Clock::time_point since;
    std::chrono::nanoseconds processor_before{0};  // had when it got the request
    Clock::time_point moved;  // the begin of the time over which it must have computed
    std::chrono::nanoseconds processor{0};  // had then
    bool has_answered = false;
    std::string in_flight;  // the call it was last known to be at
  };

  // Starts a worker if there is none, and gives it the next request if it is idle.
  Status feed(Lane& lane) {
    if (lane.request || next_ >= requests_.size()) return absl::OkStatus();
    if (!lane.worker) {
      Result<ChildProcess> worker = ChildProcess::start(options_.command);
      if (!worker.ok()) return worker.status();
      lane.worker.emplace(*std::move(worker));
      lane.has_answered = false;
    }
    lane.request = next_++;
    lane.since = lane.moved = Clock::now();
    lane.processor_before = lane.processor = lane.worker->processor_time();
    lane.in_flight.clear();
    if (options_.progress) options_.progress(done_, requests_.size(), requests_[*lane.request].op);
    lane.worker->send(
        request_line(requests_[*lane.request]));  // one that is gone shows when it is read
    return absl::OkStatus();
  }

  void wait() {
    std::vector<pollfd> files;
    std::vector<Lane*> owners;
    auto nearest = options_.deadline;
    const Clock::time_point now = Clock::now();
    for (Lane& lane : lanes_) {
      if (!lane.request) continue;
      files.push_back({lane.worker->output(), POLLIN, 0});
      owners.push_back(&lane);
      const auto left = options_.deadline -
                        std::chrono::duration_cast<std::chrono::milliseconds>(now - lane.since);
      nearest = std::min(nearest, left.count() > 0 ? left : longest_idle() / 4);
    }
    const int timeout = static_cast<int>(std::max<int64_t>(1, nearest.count() + 1));
    ::poll(files.data(), files.size(), timeout);
    for (size_t i = 0; i < files.size(); ++i) {
      if (files[i].revents != 0) {
        read_answers(*owners[i]);
      } else if (is_late(*owners[i])) {
        lose(*owners[i], fmt::format("ran past the deadline of {:.3g} s",
                                     std::chrono::duration<double>(options_.deadline).count()));
      }
    }
  }

  std::chrono::milliseconds longest_idle() const {
    return std::min(options_.deadline, kLongestIdle);
  }

  bool is_late(Lane& lane) const {
    const Clock::time_point now = Clock::now();
    if (now - lane.since < options_.deadline) return false;
    const std::chrono::nanoseconds had = lane.worker->processor_time();
    bool waits = false;
    if (now - lane.moved >= longest_idle()) {
      waits = had - lane.processor < (now - lane.moved) / kLeastShare;
      lane.processor = had;
      lane.moved = now;
    }
    return waits || had - lane.processor_before >= options_.deadline ||
           now - lane.since >= kMostDeadlines * options_.deadline;
  }

  void read_answers(Lane& lane) {
    if (!lane.worker->receive()) return lose(lane, "");
    std::string line;
    while (lane.request && lane.worker->next_line(line)) {
      const auto json = nlohmann::ordered_json::parse(line, nullptr, false);
      if (json.is_object() && json.contains("in_flight") && json["in_flight"].is_string()) {
        lane.in_flight = json["in_flight"];
        continue;
      }
      Result<OpReport> report = parse(json);
      if (!report.ok())
        return lose(lane, fmt::format("gave an answer that cannot be read: {}",
                                      message_of(report.status())));
      lane.has_answered = true;
      failed_starts_ = 0;
      finish(lane, *std::move(report));
    }
  }

  static Result<OpReport> parse(const nlohmann::ordered_json& json) {
    if (json.is_discarded()) return invalid_argument("it is not JSON");
    return op_report_from_json(json);
  }

  // `why`, or how the worker ended.
  void lose(Lane& lane, std::string why) {
    last_ending_ = lane.worker->end();
    lane.worker.reset();
    if (!lane.has_answered && why.empty() && last_ending_.starts_with("ended with"))
      ++failed_starts_;
    OpReport report;
    report.op = requests_[*lane.request].op;
    report.crashed = true;
    report.seconds = std::chrono::duration<double>(Clock::now() - lane.since).count();
    std::string error = "the process that judged it " + (why.empty() ? last_ending_ : why);
    if (!lane.in_flight.empty()) error += ", at " + lane.in_flight;
    report.errors.push_back(std::move(error));
    finish(lane, std::move(report));
  }

  void finish(Lane& lane, OpReport report) {
    reports_[*lane.request] = std::move(report);
    lane.request.reset();
    ++done_;
  }

  std::span<const OpRequest> requests_;
  const PoolOptions& options_;
  std::vector<OpReport> reports_;
  std::vector<Lane> lanes_;
  size_t next_ = 0;
  size_t done_ = 0;
  int failed_starts_ = 0;
  std::string last_ending_;
};

}  // namespace

Result<std::vector<OpReport>> run_in_workers(std::span<const OpRequest> requests,
                                             const PoolOptions& options) {
  if (requests.empty()) return std::vector<OpReport>();
  return Pool(requests, options).run();
}

}  // namespace onedim
