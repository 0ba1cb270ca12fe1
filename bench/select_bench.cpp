// Selection of one op: uncached (every decision and plan forgotten before each; only tables that
// depend on the mesh alone stay) over 1,000 distinct random input layouts, and cached. Counters:
// p50 and worst in us, and the sum of the chosen costs, which a test compares with brute force.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <random>
#include <set>
#include <stdexcept>

#include "core/cost/make_cost_model.hpp"
#include "core/pack/pack_loader.hpp"
#include "core/select/selector.hpp"

namespace onedim {
namespace {

// As a smoke test only a few layouts are tried.
int layout_count() { return std::getenv("ONEDIM_BENCH_SMOKE") != nullptr ? 10 : 1000; }

const Registry& registry() {
  static const Registry* loaded = [] {
    auto* made = new Registry;
    LoadOptions options;
    options.paths = {ONEDIM_PACK_FOLDER};
    load_packs(options, *made);
    return made;
  }();
  return *loaded;
}

Layout random_layout(const Mesh& mesh, int ndim, std::mt19937_64& random) {
  Layout layout = Layout::replicated(mesh.ndim());
  for (Placement& placement : layout.placements) {
    const auto choice = static_cast<int>(random() % static_cast<uint64_t>(ndim + 2));
    if (choice < ndim) placement = Placement::shard(choice);
    if (choice == ndim) placement = Placement::make_partial("sum");
  }
  return layout;
}

struct Workload {
  Workload(std::string_view op_name, std::string_view call_text, std::string_view mesh_text) {
    const Result<Cluster> cluster = load_cluster("h100");
    const Result<Mesh> mesh = Mesh::parse(mesh_text);
    op = registry().find(op_name);
    if (!cluster.ok() || !mesh.ok() || op == nullptr) throw std::runtime_error("no workload");
    call = parse_call(op->schema, call_text)->call;
    std::mt19937_64 random(1);
    std::set<std::string> seen;
    const auto wanted = static_cast<size_t>(layout_count());
    for (size_t tries = 0; layouts.size() < wanted && tries < 100 * wanted; ++tries) {
      std::vector<Layout> drawn;
      std::string text;
      for (const OptionalMeta& input : call.inputs) {
        drawn.push_back(random_layout(*mesh, static_cast<int>(input->shape.size()), random));
        text += format_layout(drawn.back(), *mesh) + ";";
      }
      if (seen.insert(text).second) layouts.push_back(std::move(drawn));
    }
    planner = std::make_unique<Planner>(*make_cost_model(*cluster, *mesh));
    selector = std::make_unique<Selector>(registry(), *planner);
  }

  SelectRequest request(size_t i) const { return {op, &call, layouts[i], {}, {}}; }

  const Op* op = nullptr;
  Call call;
  std::vector<std::vector<Layout>> layouts;
  std::unique_ptr<Planner> planner;
  std::unique_ptr<Selector> selector;
};

// CPU time of this thread, so that other work on the machine does not count.
double cpu_us() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

void uncached(benchmark::State& state, std::string_view op, std::string_view call,
              std::string_view mesh) {
  const Workload work(op, call, mesh);
  std::vector<double> us;
  double cost_sum = 0;
  size_t next = 0;
  for (auto _ : state) {
    work.selector->clear();
    work.planner->clear_memo();
    const double begin = cpu_us();
    const auto decision = work.selector->select(work.request(next));
    const double took = cpu_us() - begin;
    if (!decision.ok()) throw std::runtime_error(decision.status().ToString());
    state.SetIterationTime(took * 1e-6);
    us.push_back(took);
    if (us.size() <= work.layouts.size()) cost_sum += (*decision)->cost_us;
    next = (next + 1) % work.layouts.size();
  }
  std::sort(us.begin(), us.end());
  state.counters["p50_us"] = us[us.size() / 2];
  state.counters["max_us"] = us.back();
  state.counters["layouts"] = static_cast<double>(work.layouts.size());
  state.counters["cost_sum_us"] = cost_sum;
}

void cached(benchmark::State& state) {
  static const Workload work("mm", "f32[4096,4096]; f32[4096,4096]", "dp=8,tp=8");
  const SelectRequest request = work.request(static_cast<size_t>(state.thread_index()));
  if (!work.selector->select(request).ok()) throw std::runtime_error("no decision");
  for (auto _ : state) benchmark::DoNotOptimize(work.selector->select(request));
}
BENCHMARK(cached)->Threads(1)->Threads(4);

struct Subject {
  const char* op;
  const char* call;
};

void register_uncached() {
  static constexpr std::array<Subject, 4> kSubjects = {{
      {"mm", "f32[4096,4096]; f32[4096,4096]"},
      {"add.Tensor", "f32[4096,4096]; f32[4096,4096]"},
      {"addmm", "f32[4096]; f32[4096,4096]; f32[4096,4096]"},
      {"bmm", "f32[256,4096,4096]; f32[256,4096,4096]"},
  }};
  for (const Subject& subject : kSubjects) {
    for (const char* mesh :
         {"a=8", "a=8,b=8", "a=2,b=8,c=8", "a=2,b=2,c=8,d=8", "a=2,b=2,c=2,d=4,e=8"}) {
      const std::string name = std::string("uncached/") + subject.op + "/" + mesh;
      benchmark::RegisterBenchmark(name.c_str(),
                                   [subject, mesh](benchmark::State& state) {
                                     uncached(state, subject.op, subject.call, mesh);
                                   })
          ->UseManualTime()
          ->Iterations(layout_count());
    }
  }
}

const bool kRegistered = (register_uncached(), true);

}  // namespace
}  // namespace onedim
