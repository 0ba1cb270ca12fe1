#include "core/pack/pack_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "core/base/text.hpp"
#include "core/pack/foreign_call.hpp"
#include "core/pack/stdout_guard.hpp"

namespace onedim {
namespace {

namespace fs = std::filesystem;

// What this process has initialised, in load order. Guarded by load_mutex.
struct InitialisedPack {
  const onedim_pack_t* entry = nullptr;
  void (*shutdown)() ONEDIM_NOEXCEPT = nullptr;
};

std::mutex& load_mutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

std::vector<InitialisedPack>& initialised_packs() {
  static auto& packs = *new std::vector<InitialisedPack>;
  return packs;
}

bool is_disabled(const std::vector<std::string>& disabled, const std::string& name) {
  return std::find(disabled.begin(), disabled.end(), name) != disabled.end();
}

// Every file of the search path once, in order, with the verdict of its note.
std::vector<PackFile> examine_all(const LoadOptions& options) {
  std::vector<PackFile> files;
  for (const fs::path& path : options.paths) {
    for (const fs::path& candidate : pack_files_at(path)) {
      PackFile file = examine_pack(candidate);
      const bool again = std::any_of(files.begin(), files.end(), [&](const PackFile& other) {
        return file.id == FileId{} ? other.report.path == file.report.path : other.id == file.id;
      });
      if (again) continue;
      if (file.ok() && is_disabled(options.disabled, candidate.stem().string())) {
        file.report.verdict = {VerdictWord::kDisabled, "disabled in the settings"};
      }
      files.push_back(std::move(file));
    }
  }
  return files;
}

void probe_all(const LoadOptions& options, std::vector<PackFile>& files) {
  if (options.probe_program.empty()) return;
  std::vector<PackFile*> waiting;
  for (PackFile& file : files) {
    if (file.ok()) waiting.push_back(&file);
  }
  probe_packs({options.probe_program, options.probe_deadline}, waiting);
}

// A pack of several registries is initialised for each and shut down once.
void remember(const onedim_pack_t* entry) {
  std::vector<InitialisedPack>& packs = initialised_packs();
  const bool known = std::any_of(packs.begin(), packs.end(),
                                 [&](const InitialisedPack& pack) { return pack.entry == entry; });
  if (!known) packs.push_back({entry, entry->shutdown});
}

// True if `registry` got this very file by an earlier call.
bool holds(const Registry& registry, const PackFile& file) {
  const std::string* path = registry.find_pack_path(file.report.name);
  std::error_code error;
  return path != nullptr && fs::equivalent(*path, file.path, error);
}

int count_ops(const Registry& registry, const std::string& pack) {
  const std::vector<const Op*> ops = registry.ops();
  return static_cast<int>(
      std::count_if(ops.begin(), ops.end(), [&](const Op* op) { return op->pack == pack; }));
}

void load_one(const LoadOptions& options, PackFile& file, Registry& registry) {
  open_pack(file);
  if (!file.ok()) return;
  if (is_disabled(options.disabled, file.report.name)) {
    file.report.verdict = {VerdictWord::kDisabled, "disabled in the settings"};
    return;
  }
  if (holds(registry, file)) {
    file.report.op_count = count_ops(registry, file.report.name);
    file.report.notes.emplace_back("already loaded");
    return;
  }
  StagedPack staged = stage_pack(file);
  if (!file.ok()) return;
  remember(file.entry);
  const Status status = registry.commit(std::move(staged));
  if (status.ok()) return;
  file.report.op_count = 0;
  file.report.verdict = {VerdictWord::kDuplicate, std::string(status.message())};
}

// `line` opens with the name of the pack whose reference leads nowhere: `PACK: ...`. What else the
// pack registered stays.
void blame_unresolved(const std::string& line, std::vector<PackReport>& reports) {
  for (PackReport& report : reports) {
    if (report.name.empty() || !line.starts_with(report.name + ":")) continue;
    if (report.verdict.ok()) {
      report.verdict = {VerdictWord::kMissingDependency, line};
    } else {
      report.notes.push_back(line);
    }
    return;
  }
}

}  // namespace

std::vector<PackReport> load_packs(const LoadOptions& options, Registry& registry) {
  std::vector<PackFile> files = examine_all(options);
  probe_all(options, files);
  const std::lock_guard lock(load_mutex());
  {
    const StdoutGuard guard;
    for (PackFile& file : files) {
      if (!file.ok()) continue;
      const ForeignCall loading(file.path.stem().string(), "the init");
      load_one(options, file, registry);
    }
  }
  std::vector<PackReport> reports;
  for (PackFile& file : files) reports.push_back(std::move(file.report));
  for (const std::string& line : registry.resolve()) blame_unresolved(line, reports);
  return reports;
}

std::vector<std::string> unknown_disabled(const std::vector<std::string>& disabled,
                                          const std::vector<PackReport>& reports) {
  std::vector<std::string> names;
  for (const PackReport& report : reports) {
    names.push_back(fs::path(report.path).stem().string());
    if (!report.name.empty()) names.push_back(report.name);
  }
  std::vector<std::string> unknown;
  for (const std::string& name : disabled) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    unknown.push_back(quoted_excerpt(name) + did_you_mean(name, names));
  }
  return unknown;
}

void shutdown_packs() {
  const std::lock_guard lock(load_mutex());
  std::vector<InitialisedPack>& packs = initialised_packs();
  while (!packs.empty()) {
    const InitialisedPack pack = packs.back();
    packs.pop_back();
    if (pack.shutdown == nullptr) continue;
    const onedim_text_t name = pack.entry->name;
    const ForeignCall running({name.data, name.size}, "the shutdown");
    pack.shutdown();
  }
}

}  // namespace onedim
