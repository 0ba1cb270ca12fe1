// Loading packs without probing: 20 packs that this process has never seen, and the shipped ones
// again.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/pack/pack_loader.hpp"

namespace onedim {
namespace {

namespace fs = std::filesystem;

constexpr int kPackCount = 20;

std::string read_bytes(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The template pack under another name of the same length.
std::string renamed(std::string bytes, const std::string& name) {
  const std::string_view from = "mypack";
  for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at)) {
    bytes.replace(at, from.size(), name);
  }
  return bytes;
}

class FreshPacks {
 public:
  FreshPacks() {
    std::string pattern = (fs::temp_directory_path() / "onedim_bench_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    const std::string bytes = read_bytes(fs::path(ONEDIM_BENCH_PACKS) / "mypack.so");
    for (int i = 0; i < kPackCount; ++i) {
      const std::string name = fmt::format("pack{:02}", i);
      std::ofstream(folder_ / (name + ".so"), std::ios::binary) << renamed(bytes, name);
    }
  }
  ~FreshPacks() { fs::remove_all(folder_); }
  FreshPacks(const FreshPacks&) = delete;
  FreshPacks& operator=(const FreshPacks&) = delete;
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

void load_all(const fs::path& folder, int expected) {
  LoadOptions options;
  options.paths = {folder};
  Registry registry;
  int loaded = 0;
  for (const PackReport& report : load_packs(options, registry)) {
    if (!report.verdict.ok()) throw std::runtime_error(report.path + ": " + report.verdict.reason);
    ++loaded;
  }
  if (expected != 0 && loaded != expected) throw std::runtime_error("not all packs were found");
  benchmark::DoNotOptimize(registry.ops().size());
}

void load_20_new_packs(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto packs = std::make_unique<FreshPacks>();
    state.ResumeTiming();
    load_all(packs->folder(), kPackCount);
    state.PauseTiming();
    packs.reset();
    state.ResumeTiming();
  }
}

void load_shipped_packs_again(benchmark::State& state) {
  load_all(ONEDIM_PACK_FOLDER, 0);
  for (auto _ : state) load_all(ONEDIM_PACK_FOLDER, 0);
}

// Libraries are never closed, so the runs are few.
BENCHMARK(load_20_new_packs)->Unit(benchmark::kMillisecond)->Iterations(5);
BENCHMARK(load_shipped_packs_again)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace onedim
