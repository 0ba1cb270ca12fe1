// The redistribution planner on the h100 cluster: pairs drawn at random from all layouts, the memo
// emptied before each uncached plan; tables that depend on mesh and tensor rank alone stay.
// Counters: CPU ns of the median and of the slowest 1 % and 0.1 %; `sum_us` is the sum of the costs
// found, which does not depend on speed.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <stdexcept>

#include "core/cost/make_cost_model.hpp"
#include "core/redistribute/planner.hpp"

namespace onedim {
namespace {

// CPU time of this thread, so that other work on the machine does not count.
double cpu_ns() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

constexpr std::array<const char*, 8> kMeshes = {
    "a=8",
    "a=8,b=8",
    "a=2,b=8,c=8",
    "a=2,b=2,c=8,d=8",
    "a=2,b=2,c=2,d=4,e=8",
    "a=2,b=2,c=2,d=2,e=2,f=4",
    "a=2,b=2,c=2,d=2,e=2,f=2,g=2",
    "a=2,b=2,c=2,d=2,e=2,f=2,g=2,h=2",
};

std::shared_ptr<const CostModel> model_of(const char* mesh_text) {
  const Result<Cluster> cluster = load_cluster("h100");
  const Result<Mesh> mesh = Mesh::parse(mesh_text);
  if (!cluster.ok()) throw std::runtime_error(std::string(message_of(cluster.status())));
  Result<std::unique_ptr<const CostModel>> model = make_cost_model(*cluster, *mesh);
  if (!model.ok()) throw std::runtime_error(std::string(message_of(model.status())));
  return *std::move(model);
}

struct Pair {
  TensorMeta meta;
  Layout from, to;
};

class PairSource {
 public:
  PairSource(const Mesh& mesh, int tensor_ndim, bool is_even)
      : mesh_(mesh), tensor_ndim_(tensor_ndim), is_even_(is_even) {}

  Pair next() {
    static constexpr std::array<int64_t, 4> kEven = {1024, 4096, 16384, 512};
    Dims shape;
    for (int dim = 0; dim < tensor_ndim_; ++dim)
      shape.push_back(is_even_ ? kEven[number(4)] : 300 + number(5000));
    const std::string kind = number(2) ? "sum" : "max";
    return {TensorMeta::contiguous(DType::kBF16, shape), layout(kind), layout(kind)};
  }

 private:
  int64_t number(int64_t count) { return static_cast<int64_t>(random_() % count); }

  Layout layout(const std::string& kind) {
    Layout layout = Layout::replicated(mesh_.ndim());
    for (Placement& placement : layout.placements) {
      const int64_t choice = number(tensor_ndim_ + 2);
      if (choice == tensor_ndim_) placement = Placement::make_partial(kind);
      if (choice < tensor_ndim_) placement = Placement::shard(static_cast<int>(choice));
    }
    for (int dim = 0; dim < tensor_ndim_; ++dim) {
      Dims order = layout.shard_order(dim);
      std::shuffle(order.begin(), order.end(), random_);
      layout.set_shard_order(dim, order);
    }
    return layout;
  }

  Mesh mesh_;
  int tensor_ndim_;
  bool is_even_;
  std::mt19937_64 random_{7};
};

void report(benchmark::State& state, std::vector<double>& ns) {
  std::sort(ns.begin(), ns.end());
  const auto at = [&](double share) {
    return ns[std::min(ns.size() - 1, static_cast<size_t>(share * static_cast<double>(ns.size())))];
  };
  state.counters["p50_ns"] = at(0.5);
  state.counters["p99_ns"] = at(0.99);
  state.counters["p999_ns"] = at(0.999);
}

// state.range: mesh rank, tensor rank, 1 if all sizes divide.
void plan_uncached(benchmark::State& state) {
  const std::shared_ptr<const CostModel> model = model_of(kMeshes[state.range(0) - 1]);
  Planner planner(model);
  PairSource source(model->mesh(), static_cast<int>(state.range(1)), state.range(2) != 0);
  for (int i = 0; i < 50; ++i) {  // fills the tables
    const Pair pair = source.next();
    benchmark::DoNotOptimize(planner.plan(pair.meta, pair.from, pair.to));
  }
  std::vector<double> ns;
  double sum_us = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Pair pair = source.next();
    planner.clear_memo();
    state.ResumeTiming();
    const double begin = cpu_ns();
    const auto plan = planner.plan(pair.meta, pair.from, pair.to);
    ns.push_back(cpu_ns() - begin);
    if (plan.ok()) sum_us += (*plan)->cost_us;
  }
  report(state, ns);
  state.counters["sum_us"] = sum_us;
}

void plan_cached(benchmark::State& state) {
  const std::shared_ptr<const CostModel> model = model_of(kMeshes[state.range(0) - 1]);
  Planner planner(model);
  PairSource source(model->mesh(), static_cast<int>(state.range(1)), true);
  std::vector<Pair> pairs;
  while (pairs.size() < 256) {
    pairs.push_back(source.next());
    if (!planner.plan(pairs.back().meta, pairs.back().from, pairs.back().to).ok()) pairs.pop_back();
  }
  size_t next = 0;
  for (auto _ : state) {
    const Pair& pair = pairs[next++ & 255];
    benchmark::DoNotOptimize(planner.plan(pair.meta, pair.from, pair.to));
  }
}

void one_to_all(benchmark::State& state) {
  const std::shared_ptr<const CostModel> model = model_of(kMeshes[state.range(0) - 1]);
  Planner planner(model);
  const int ndim = static_cast<int>(state.range(1));
  PairSource source(model->mesh(), ndim, state.range(2) != 0);
  const Result<LayoutTable> table = planner.table(ndim, {"max", "sum"});
  if (!table.ok()) throw std::runtime_error(std::string(message_of(table.status())));
  std::vector<double> costs(table->size()), ns;
  for (auto _ : state) {
    state.PauseTiming();
    const Pair pair = source.next();
    state.ResumeTiming();
    const double begin = cpu_ns();
    benchmark::DoNotOptimize(planner.costs_to_all({&pair.meta, 1}, pair.from, *table, {}, costs));
    ns.push_back(cpu_ns() - begin);
  }
  report(state, ns);
  state.counters["layouts"] = table->size();
}

BENCHMARK(plan_uncached)
    ->ArgNames({"mesh_dims", "tensor_dims", "even"})
    ->ArgsProduct({{1, 2, 3}, {1, 2, 3, 4}, {0, 1}})
    ->ArgsProduct({{4, 5, 6, 7, 8}, {2}, {1}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(plan_cached)->ArgNames({"mesh_dims", "tensor_dims"})->Args({1, 2})->Args({3, 3});
BENCHMARK(plan_cached)->ArgNames({"mesh_dims", "tensor_dims"})->Args({3, 3})->Threads(2);
BENCHMARK(one_to_all)
    ->ArgNames({"mesh_dims", "tensor_dims", "even"})
    ->ArgsProduct({{2, 3}, {2, 3}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace onedim
