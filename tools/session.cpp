#include "tools/session.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "core/base/one_line.hpp"
#include "core/base/output_file.hpp"
#include "core/pack/pack_search.hpp"
#include "core/pack/settings.hpp"
#include "tools/supervisor.hpp"
#include "tools/terminal.hpp"
#include "tools/told_once.hpp"

namespace onedim {

namespace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> existing_paths(const std::vector<std::string>& texts) {
  std::vector<fs::path> paths;
  for (const std::string& text : texts) {
    std::error_code error;
    if (!fs::exists(text, error))
      return invalid_argument("there is no pack file or folder \"{}\"", text);
    paths.emplace_back(text);
  }
  return paths;
}

// Packs that one counts on and that are not there: mostly they are not built yet.
Status check_folders(std::span<const fs::path> paths) {
  for (const fs::path& path : paths) {
    if (pack_files_at(path).empty())
      return invalid_argument(
          "there is no pack (*.so) in the folder \"{}\": build one there first, or leave it out",
          path.string());
  }
  return absl::OkStatus();
}

}  // namespace

Result<LoadOptions> Session::load_options(const std::vector<std::string>& files) const {
  const Result<Settings> settings = load_settings(flags.config);
  if (!settings.ok()) return settings.status();
  LoadOptions options;
  if (settings->probe && !flags.no_probe) options.probe_program = own_executable();
  options.probe_deadline = settings->probe_deadline;
  const Result<std::vector<fs::path>> given =
      existing_paths(files.empty() ? flags.pack_paths : files);
  if (!given.ok()) return given.status();
  options.paths = *given;
  if (!files.empty())
    return options;  // what is named is inspected, whatever the settings say of it
  if (Status status = check_folders(*given); !status.ok()) return status;
  options.paths = pack_search_path(*given, settings->pack_paths);
  options.disabled = settings->disabled_packs;
  return options;
}

Status Session::load_once(const std::vector<std::string>& files) {
  if (loaded_) return absl::OkStatus();
  const Result<LoadOptions> options = load_options(files);
  if (!options.ok()) return options.status();
  if (is_supervised_) run_on_in_child();
  keep_stdout();
  reports_ = load_packs(*options, registry_);
  loaded_ = true;
  for (const std::string& name : unknown_disabled(options->disabled, reports_))
    note(fmt::format("packs.disabled in the settings names no pack that is found: {}", name));
  return absl::OkStatus();
}

Result<const Registry*> Session::registry() {
  const Status status = load_once({});
  if (!status.ok()) return status;
  for (const PackReport& report : reports_) {
    // Libraries that packs bring along lie beside them and are no packs.
    if (report.verdict.ok() || report.verdict.word == VerdictWord::kNotAPlugin ||
        report.verdict.word == VerdictWord::kDisabled)
      continue;
    note(fmt::format("{}: {}: {}", report.path, verdict_text(report.verdict.word),
                     report.verdict.reason));
  }
  if (registry_.ops().empty()) {
    return absl::FailedPreconditionError(
        "no pack is loaded; give a folder of packs with --pack-path");
  }
  return &registry_;
}

Result<const std::vector<PackReport>*> Session::pack_reports(
    const std::vector<std::string>& files) {
  const Status status = load_once(files);
  if (!status.ok()) return status;
  return &reports_;
}

const Registry& Session::load_files(const std::vector<std::string>& files) {
  LoadOptions options;
  options.paths.assign(files.begin(), files.end());
  reports_ = load_packs(options, registry_);
  return registry_;
}

void Session::keep_stdout() {
  std::fflush(stdout);
  const int kept = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  std::FILE* output = kept < 0 ? nullptr : ::fdopen(kept, "w");
  if (output == nullptr) return;
  if (!writes_to_file_) output_ = output;
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

void Session::write(std::string_view text) {
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), output_);
}

void Session::write_json(const Json& document) {
  write(document.dump(-1, ' ', false, Json::error_handler_t::replace));
  write("\n");
}

namespace {

void complain(std::string_view line) {
  clear_progress();
  const std::string whole = fmt::format("onedim: {}\n", one_line(line));
  if (!is_mine_to_tell(whole)) return;
  std::fwrite(whole.data(), 1, whole.size(), stderr);
}

}  // namespace

void Session::note(std::string_view line) const {
  if (!flags.quiet) complain(line);
}

void Session::refuse(std::string_view line) {
  complain(line);
  if (flags.json) write_json({{"refused", line}});
}

void Session::progress(std::string_view text) const {
  if (!flags.quiet) show_progress(text);
}

Status Session::write_to(const std::string& file) {
  std::FILE* const output = std::fopen(file.c_str(), "we");
  if (output == nullptr) return not_writable(file, errno);
  output_ = output;
  writes_to_file_ = true;
  return absl::OkStatus();
}

bool Session::finish() { return std::fflush(output_) == 0 && std::ferror(output_) == 0; }

ExitCode exit_code_of(const Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                 absl::IsUnimplemented(status)
             ? ExitCode::kUsage
             : ExitCode::kEnvironment;
}

std::string own_executable() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : path.string();
}

}  // namespace onedim
