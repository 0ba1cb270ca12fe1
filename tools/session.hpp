#pragma once
// Session: one run of the `onedim` command: the flags every sub-command accepts, the sub-command
// that was chosen, the packs (loaded when first asked for) and the way out. All of stdout goes
// through `write`, so that a reader that goes away ends the command in one place; notes and
// progress go to stderr, and `--quiet` silences both. Before the packs are loaded the process is
// put under supervision (supervisor.hpp), and its stdout out of their reach: what packs print, at
// any time, goes to stderr.

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/pack/pack_loader.hpp"

namespace onedim {

using Json = nlohmann::ordered_json;

// What the shell sees. Statuses map so: bad input kUsage, everything else that fails kEnvironment.
enum class ExitCode { kFine = 0, kFindings = 1, kUsage = 2, kEnvironment = 3 };

struct GlobalFlags {
  std::vector<std::string> pack_paths;
  std::string config;
  bool no_probe = false;
  bool json = false;
  bool quiet = false;
};

class Session {
 public:
  using Run = std::function<Result<ExitCode>()>;

  GlobalFlags flags;

  // The work of the sub-command that the command line chose; it starts once the whole line is
  // parsed.
  void choose(Run run) { run_ = std::move(run); }
  Result<ExitCode> run() const { return run_(); }

  // Loads every pack of the search path, once. Fails if a path given does not exist or no pack
  // loads; packs that do not load are noted.
  Result<const Registry*> registry();
  // Loads `files` or, without any, the search path, and tells what became of each; it need not be
  // good.
  Result<const std::vector<PackReport>*> pack_reports(const std::vector<std::string>& files);
  const Registry& loaded() const { return registry_; }  // what those calls loaded
  // For a child of the command: loads exactly these files, which its parent has tried, whatever the
  // settings say.
  const Registry& load_files(const std::vector<std::string>& files);
  // Loads packs in this very process, where a debugger sees them crash.
  void do_not_supervise() { is_supervised_ = false; }

  // To stdout as it was at the start; the progress line goes first.
  void write(std::string_view text);
  void write_json(const Json& document);
  // The finding that there is no result, and why: one line on stderr, also with --quiet, and the
  // document of --json, {"refused": LINE}.
  void refuse(std::string_view line);
  // One line on stderr.
  void note(std::string_view line) const;
  // Replaces the progress line, which is seen only on a terminal and is gone when the command ends.
  void progress(std::string_view text) const;
  // From here on `write` alone reaches stdout.
  void keep_stdout();
  // From here on `write` fills this file: one process of several that tells the user nothing.
  Status write_to(const std::string& file);
  // Ends the output: false if not all of it could be written.
  bool finish();

 private:
  Result<LoadOptions> load_options(const std::vector<std::string>& files) const;
  Status load_once(const std::vector<std::string>& files);

  Run run_;
  bool loaded_ = false;
  bool is_supervised_ = true;
  std::FILE* output_ = stdout;
  bool writes_to_file_ = false;
  Registry registry_;
  std::vector<PackReport> reports_;
};

// Anything but the user's input is the environment's fault: missing packs, unreadable files, a full
// disk.
ExitCode exit_code_of(const Status& status);

// The file of the running program.
std::string own_executable();

}  // namespace onedim
