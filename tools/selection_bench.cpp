#include "tools/selection_bench.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <latch>
#include <random>
#include <set>
#include <thread>

namespace onedim {
namespace {

constexpr int kLookUpsABatch = 64;
constexpr int kBatches = 2000;
constexpr int kThreads = 4;
// Draws that are looked up; all of them stay in the decision cache.
constexpr size_t kMostCached = 1000;

// Tries for each draw wanted, after which there are taken to be no more.
constexpr int64_t kMostTries = 100;

struct StandardCall {
  std::string_view op, call;
};
constexpr std::array<StandardCall, 4> kStandardCalls = {{
    {"mm", "f32[4096,4096]; f32[4096,4096]"},
    {"add.Tensor", "f32[4096,4096]; f32[4096,4096]"},
    {"addmm", "f32[4096]; f32[4096,4096]; f32[4096,4096]"},
    {"bmm", "f32[256,4096,4096]; f32[256,4096,4096]"},
}};

Layout draw_layout(const TensorMeta& meta, const Mesh& mesh, std::mt19937_64& random) {
  const size_t ndim = meta.shape.size();
  Layout layout = Layout::replicated(mesh.ndim());
  for (Placement& placement : layout.placements) {
    const uint64_t choice = random() % (ndim + 2);
    if (choice < ndim) placement = Placement::shard(static_cast<int>(choice));
    if (choice == ndim) {
      const bool has_sum = is_legal_partial("sum", meta.dtype);
      placement = Placement::make_partial(has_sum ? "sum" : "max");
    }
  }
  return layout;
}

std::string draw_text(const LayoutDraw& draw, const Call& call, const Mesh& mesh) {
  std::string text;
  for (size_t slot = 0; slot < draw.size(); ++slot) {
    if (slot > 0) text += "; ";
    text += call.inputs[slot] ? format_layout(draw[slot], mesh) : "-";
  }
  return text;
}

double thread_cpu_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

// The least value that a share of `times`, which are sorted, does not exceed.
double quantile(const std::vector<double>& sorted, double share) {
  const auto at = static_cast<size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

std::vector<double> sorted(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times;
}

std::vector<double> cached_ns_of_threads(SelectionBench& bench) {
  std::vector<std::vector<double>> own(kThreads);
  std::latch all_here(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      all_here.arrive_and_wait();
      own[thread] = bench.cached_ns(static_cast<size_t>(thread), kBatches);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<double> all;
  for (const std::vector<double>& times : own) all.insert(all.end(), times.begin(), times.end());
  return all;
}

Status measure_uncached(SelectionBench& bench, int64_t decisions, SelectionTimes& times) {
  std::vector<double> us;
  const size_t distinct = bench.draws().size();
  for (size_t i = 0; i < std::max(distinct, static_cast<size_t>(decisions)); ++i) {
    const Result<SelectionBench::Uncached> decided = bench.decide_uncached(i % distinct);
    if (!decided.ok()) return decided.status();
    us.push_back(decided->us);
    if (i < distinct) times.cost_sum_us += decided->cost_us;
  }
  us = sorted(std::move(us));
  times.uncached_us_p50 = quantile(us, 0.5);
  times.uncached_us_p99 = quantile(us, 0.99);
  times.uncached_us_max = us.back();
  return absl::OkStatus();
}

Status measure_cached(SelectionBench& bench, SelectionTimes& times) {
  for (size_t i = 0; i < std::min(kMostCached, bench.draws().size()); ++i) {
    const auto decision = bench.selector().select(bench.request(i));
    if (!decision.ok()) return decision.status();
  }
  const SelectCounters before = bench.selector().counters();
  const std::vector<double> alone = sorted(bench.cached_ns(0, kBatches));
  const std::vector<double> together = sorted(cached_ns_of_threads(bench));
  const SelectCounters after = bench.selector().counters();
  const int64_t look_ups = int64_t{kLookUpsABatch} * kBatches * (1 + kThreads);
  if (after.hits - before.hits != look_ups || after.misses != before.misses)
    return absl::InternalError("a decision that had been made was made again");
  times.cached_ns_p50 = quantile(alone, 0.5);
  times.cached_ns_p99 = quantile(alone, 0.99);
  times.threads4_ns_p50 = quantile(together, 0.5);
  return absl::OkStatus();
}

Result<SelectionTimes> measure_in_this_thread(SelectionBench& bench, int64_t decisions) {
  SelectionTimes times;
  if (const auto first = bench.decide_uncached(0); first.ok()) times.first_us = first->us;
  const Result<int64_t> refused = bench.drop_refused();
  if (!refused.ok()) return refused.status();
  if (bench.draws().empty()) return invalid_argument("no strategy serves any layouts drawn");
  times.refused = *refused;
  times.distinct = static_cast<int64_t>(bench.draws().size());
  if (Status status = measure_uncached(bench, decisions, times); !status.ok()) return status;
  if (Status status = measure_cached(bench, times); !status.ok()) return status;
  return times;
}

}  // namespace

std::vector<LayoutDraw> draw_layouts(const Call& call, const Mesh& mesh, int64_t count,
                                     uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<std::string> seen;
  std::vector<LayoutDraw> draws;
  for (int64_t tries = 0; tries < kMostTries * count; ++tries) {
    if (static_cast<int64_t>(draws.size()) == count) break;
    LayoutDraw draw(call.inputs.size());
    for (size_t slot = 0; slot < draw.size(); ++slot) {
      if (call.inputs[slot]) draw[slot] = draw_layout(*call.inputs[slot], mesh, random);
    }
    if (seen.insert(draw_text(draw, call, mesh)).second) draws.push_back(std::move(draw));
  }
  return draws;
}

Result<std::string> default_bench_call(const Op& op) {
  for (const StandardCall& standard : kStandardCalls) {
    if (standard.op == op.name()) return std::string(standard.call);
  }
  const Result<std::vector<std::string>> samples = op.samples();
  if (!samples.ok()) return samples.status();
  int64_t most = -1;
  std::string largest;
  for (const std::string& sample : *samples) {
    const Result<CallText> parsed = parse_call(op.schema, sample);
    if (!parsed.ok()) continue;
    int64_t elements = 0;
    for (const OptionalMeta& input : parsed->call.inputs) {
      if (input) elements += volume(input->shape);
    }
    if (elements > most) largest = sample;
    most = std::max(most, elements);
  }
  if (most < 0) return invalid_argument("{} has no samples; give --inputs", op.name());
  return largest;
}

SelectionBench::SelectionBench(const Registry& registry, const Op& op, Call call,
                               std::shared_ptr<const CostModel> model, int64_t count, uint64_t seed)
    : op_(&op),
      call_(std::move(call)),
      draws_(draw_layouts(call_, model->mesh(), count, seed)),
      planner_(std::move(model)),
      selector_(registry, planner_) {}

Result<SelectionBench::Uncached> SelectionBench::decide_uncached(size_t draw) {
  selector_.clear();
  planner_.clear_memo();
  const SelectRequest request = this->request(draw);
  const double begin = thread_cpu_us();
  const Result<std::shared_ptr<const Decision>> decision = selector_.select(request);
  const double us = thread_cpu_us() - begin;
  if (decision.ok()) return Uncached{us, (*decision)->cost_us};
  return annotate(decision.status(), draw_text(draws_[draw], call_, planner_.mesh()));
}

Result<int64_t> SelectionBench::drop_refused() {
  std::vector<LayoutDraw> kept;
  for (size_t i = 0; i < draws_.size(); ++i) {
    const Result<Uncached> decided = decide_uncached(i);
    if (!decided.ok() && !absl::IsFailedPrecondition(decided.status())) return decided.status();
    if (decided.ok()) kept.push_back(draws_[i]);
  }
  const size_t refused = draws_.size() - kept.size();
  draws_ = std::move(kept);
  return static_cast<int64_t>(refused);
}

std::vector<double> SelectionBench::cached_ns(size_t first_draw, int batches) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> means;
  means.reserve(static_cast<size_t>(batches));
  const size_t cached = std::min(kMostCached, draws_.size());
  for (int batch = 0; batch < batches; ++batch) {
    const SelectRequest request = this->request((first_draw + static_cast<size_t>(batch)) % cached);
    const Clock::time_point begin = Clock::now();
    bool all_found = true;
    for (int i = 0; i < kLookUpsABatch; ++i) all_found &= selector_.select(request).ok();
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    if (all_found) means.push_back(took.count() / kLookUpsABatch);
  }
  return means;
}

Result<SelectionTimes> measure_selection(SelectionBench& bench, int64_t decisions) {
  // A thread of its own has no tables of an earlier mesh.
  Result<SelectionTimes> times = absl::InternalError("not measured");
  std::thread([&] { times = measure_in_this_thread(bench, decisions); }).join();
  return times;
}

}  // namespace onedim
