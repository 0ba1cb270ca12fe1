// Solving cost networks: grids and ladders of random costs, with and without a memory limit, and
// the instances of the folder that ONEDIM_IOPDDL names. Counters: cost, gap in per cent, and
// millions of cells looked at.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "core/solve/iopddl_read.hpp"
#include "core/solve/solver.hpp"

namespace onedim {
namespace {

constexpr int kValues = 8;

// `width` ops a step, each fed by one of the step before and its neighbour: what a model's blocks
// look like to the solver.
CostNetwork ladder(int steps, int width, bool has_limit) {
  std::mt19937_64 random(1);
  const auto draw = [&](uint64_t limit) { return static_cast<Cost>(random() % limit); };
  CostNetwork network;
  for (int i = 0; i < steps * width; ++i) {
    std::vector<Cost> costs;
    MemoryUse use{i, i + 3 * width, {}};
    for (int v = 0; v < kValues; ++v) {
      costs.push_back(draw(1000));
      use.bytes.push_back(draw(100));
    }
    const int node = network.add_node(std::move(costs));
    network.nodes[node].uses.push_back(std::move(use));
    for (const int back : {1, width}) {
      if (node < back) continue;
      std::vector<Cost> cells;
      for (int cell = 0; cell < kValues * kValues; ++cell)
        cells.push_back(draw(4) == 0 ? 0 : draw(1000));
      const int table = network.add_table(kValues, kValues, std::move(cells));
      network.add_edge(node - back, node, table);
    }
  }
  if (has_limit) network.memory_limit = 110 * width;
  return network;
}

void solve_network(benchmark::State& state, const CostNetwork& network, int64_t effort) {
  SolveOptions options;
  options.effort = effort;
  NetworkSolution solution;
  for (auto _ : state) {
    Result<NetworkSolution> solved = solve(network, options);
    if (!solved.ok()) throw std::runtime_error(std::string(message_of(solved.status())));
    solution = *std::move(solved);
  }
  const auto cost = static_cast<double>(solution.cost);
  state.counters["cost"] = cost;
  state.counters["gap%"] = 100 * (cost - static_cast<double>(solution.lower_bound)) / cost;
  state.counters["Mcells"] = static_cast<double>(solution.effort) / 1e6;
}

void bench_ladder(benchmark::State& state) {
  const CostNetwork network = ladder(static_cast<int>(state.range(0)),
                                     static_cast<int>(state.range(1)), state.range(2) != 0);
  const bool is_smoke = std::getenv("ONEDIM_BENCH_SMOKE") != nullptr;
  solve_network(state, network, is_smoke ? 1 : 1'000'000'000);
}
BENCHMARK(bench_ladder)
    ->ArgNames({"steps", "width", "limit"})
    ->Args({20, 2, 0})
    ->Args({100, 2, 0})
    ->Args({20, 4, 0})
    ->Args({20, 2, 1})
    ->Args({100, 2, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Registered by name, for what the folder holds.
const int kInstances = [] {
  const char* folder = std::getenv("ONEDIM_IOPDDL");
  if (folder == nullptr) return 0;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path();
    if (path.find(".json") == std::string::npos) continue;
    const std::string name = "iopddl/" + entry.path().filename().string();
    benchmark::RegisterBenchmark(
        name.c_str(),
        [path](benchmark::State& state) {
          const Result<CostNetwork> network = read_iopddl(path);
          if (!network.ok()) throw std::runtime_error(std::string(message_of(network.status())));
          solve_network(state, *network, 20'000'000'000);
        })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->Iterations(1);
    ++count;
  }
  return count;
}();

}  // namespace
}  // namespace onedim
