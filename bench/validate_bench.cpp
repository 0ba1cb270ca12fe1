// What proving rules costs: all samples of one op, one claim, and every op of every shipped pack,
// on one thread, in this process.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <stdexcept>

#include "core/pack/pack_loader.hpp"
#include "core/validate/op_validation.hpp"

namespace onedim {
namespace {

const Registry& shipped_registry() {
  static const Registry* registry = [] {
    auto* loaded = new Registry;
    LoadOptions options;
    options.paths = {ONEDIM_PACK_FOLDER};
    load_packs(options, *loaded);
    if (loaded->ops().empty()) throw std::runtime_error("no packs in " ONEDIM_PACK_FOLDER);
    return loaded;
  }();
  return *registry;
}

void report_counts(benchmark::State& state, const OpReport& report) {
  state.counters["cases"] = report.samples;
  state.counters["combinations"] = static_cast<double>(report.tried);
  state.counters["rules"] = static_cast<double>(report.proved.size());
}

void validate_one(benchmark::State& state, const std::string& name) {
  const Op& op = *shipped_registry().find(name);
  OpReport report;
  for (auto _ : state) report = validate_op(op, {name, std::nullopt, {}}, shipped_registry(), {});
  report_counts(state, report);
}
BENCHMARK_CAPTURE(validate_one, mm, "mm")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(validate_one, add, "add.Tensor")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(validate_one, maximum, "maximum")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(validate_one, addmm, "addmm")->Unit(benchmark::kMillisecond);

// One call in one world, as the measurements of other validators are: all combinations of input
// placements.
void validate_call(benchmark::State& state, const std::string& name, const std::string& call) {
  const Op& op = *shipped_registry().find(name);
  ValidateOptions options;
  options.cases.worlds = {2};
  options.cases.redraw_sizes = false;
  OpReport report;
  for (auto _ : state) report = validate_op(op, {name, call, {}}, shipped_registry(), options);
  report_counts(state, report);
}
BENCHMARK_CAPTURE(validate_call, mm, "mm", "f32[4,12]; f32[12,24]")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(validate_call, add, "add.Tensor", "f32[4,12]; f32[4,12]")
    ->Unit(benchmark::kMillisecond);

void judge_claim(benchmark::State& state) {
  const OpRequest request{"mm", "f32[4,6]; f32[6,8]", {"P(sum) | S(1), S(0)"}};
  const Op& op = *shipped_registry().find("mm");
  for (auto _ : state) benchmark::DoNotOptimize(validate_op(op, request, shipped_registry(), {}));
}
BENCHMARK(judge_claim)->Unit(benchmark::kMicrosecond);

void validate_all(benchmark::State& state) {
  const size_t stride = std::getenv("ONEDIM_BENCH_SMOKE") != nullptr ? 50 : 1;
  const std::vector<const Op*> ops = shipped_registry().ops();
  OpReport total;
  for (auto _ : state) {
    total = {};
    for (size_t i = 0; i < ops.size(); i += stride) {
      const OpReport report =
          validate_op(*ops[i], {ops[i]->name(), std::nullopt, {}}, shipped_registry(), {});
      total.samples += report.samples;
      total.tried += report.tried;
      total.proved.insert(total.proved.end(), report.proved.begin(), report.proved.end());
    }
  }
  report_counts(state, total);
}
BENCHMARK(validate_all)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace onedim
