// Selection of one op: uncached (every decision and plan forgotten before each; only tables that
// depend on the mesh alone stay) over 1,000 distinct random input layouts, and cached. Counters:
// p50 and worst in us, and the sum of the chosen costs. `onedim bench select` times the same with
// the same code, and compares runs.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

#include "core/cost/make_cost_model.hpp"
#include "core/pack/pack_loader.hpp"
#include "tools/selection_bench.hpp"

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

std::unique_ptr<SelectionBench> make_bench(std::string_view op_name, std::string_view mesh_text) {
  const Result<Cluster> cluster = load_cluster("h100");
  const Result<Mesh> mesh = Mesh::parse(mesh_text);
  const Op* op = registry().find(op_name);
  if (!cluster.ok() || !mesh.ok() || op == nullptr) throw std::runtime_error("no workload");
  return std::make_unique<SelectionBench>(
      registry(), *op, parse_call(op->schema, *default_bench_call(*op))->call,
      *make_cost_model(*cluster, *mesh), layout_count(), /*seed=*/1);
}

void uncached(benchmark::State& state, std::string_view op, std::string_view mesh) {
  const std::unique_ptr<SelectionBench> bench = make_bench(op, mesh);
  if (!bench->drop_refused().ok()) throw std::runtime_error("no decision");
  std::vector<double> us;
  double cost_sum = 0;
  const size_t distinct = bench->draws().size();
  for (auto _ : state) {
    const auto decided = bench->decide_uncached(us.size() % distinct);
    if (!decided.ok()) throw std::runtime_error(decided.status().ToString());
    state.SetIterationTime(decided->us * 1e-6);
    us.push_back(decided->us);
    if (us.size() <= distinct) cost_sum += decided->cost_us;
  }
  std::sort(us.begin(), us.end());
  state.counters["p50_us"] = us[us.size() / 2];
  state.counters["max_us"] = us.back();
  state.counters["layouts"] = static_cast<double>(distinct);
  state.counters["cost_sum_us"] = cost_sum;
}

void cached(benchmark::State& state) {
  static const std::unique_ptr<SelectionBench> bench = make_bench("mm", "dp=8,tp=8");
  const SelectRequest request = bench->request(static_cast<size_t>(state.thread_index()));
  if (!bench->selector().select(request).ok()) throw std::runtime_error("no decision");
  for (auto _ : state) benchmark::DoNotOptimize(bench->selector().select(request));
}
BENCHMARK(cached)->Threads(1)->Threads(4);

void register_uncached() {
  for (const char* op : {"mm", "add.Tensor", "addmm", "bmm"}) {
    for (const char* mesh :
         {"a=8", "a=8,b=8", "a=2,b=8,c=8", "a=2,b=2,c=8,d=8", "a=2,b=2,c=2,d=4,e=8"}) {
      const std::string name = std::string("uncached/") + op + "/" + mesh;
      benchmark::RegisterBenchmark(
          name.c_str(), [op, mesh](benchmark::State& state) { uncached(state, op, mesh); })
          ->UseManualTime()
          ->Iterations(layout_count());
    }
  }
}

const bool kRegistered = (register_uncached(), true);

}  // namespace
}  // namespace onedim
