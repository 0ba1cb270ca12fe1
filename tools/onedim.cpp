#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <csignal>
#include <cstdio>
#include <exception>

#include "core/base/one_line.hpp"
#include "core/base/status.hpp"
#include "core/pack/pack_loader.hpp"
#include "tools/commands/commands.hpp"
#include "tools/supervisor.hpp"
#include "tools/terminal.hpp"
#include "tools/told_once.hpp"
#include "tools/usage_error.hpp"

namespace onedim {
namespace {

constexpr const char* kDescription =
    "onedim: write an op's sharding rule for one mesh dimension; it is proved and used everywhere";

constexpr const char* kFooter =
    "Exit codes: 0 fine, 1 findings, 2 usage, 3 environment. Every command takes --json.\n"
    "Example: onedim layout 'f32[10,7]@S(0),S(1)' --mesh a=2,b=3";

void add_global_flags(CLI::App& app, GlobalFlags& flags) {
  app.set_version_flag("--version", "onedim " ONEDIM_ABI_RELEASE);
  app.add_option("-p,--pack-path", flags.pack_paths,
                 "Pack file or folder, searched first (repeatable)")
      ->type_name("PATH")
      ->allow_extra_args(false);
  app.add_option("--config", flags.config, "Settings file (default: onedim.toml, if there)")
      ->type_name("FILE");
  app.add_flag("--no-probe", flags.no_probe,
               "Open packs without trying them in a child process first");
  app.add_flag("--json", flags.json, "Write one JSON document");
  app.add_flag("-q,--quiet", flags.quiet, "No notes and no progress on stderr");
}

void add_commands(CLI::App& app, Session& session) {
  add_bench(app, session);
  add_calibrate(app, session);
  add_call(app, session);
  add_check_call(app, session);
  add_graph(app, session);
  add_layout(app, session);
  add_new_pack(app, session);
  add_ops(app, session);
  add_packs(app, session);
  add_plan(app, session);
  add_price(app, session);
  add_probe_packs(app, session);
  add_redistribute(app, session);
  add_rules(app, session);
  add_run(app, session);
  add_select(app, session);
  add_solve(app, session);
  add_validate(app, session);
  add_validate_worker(app, session);
}

int fail(const Status& status) {
  // Quoted input may hold anything; an error stays one line.
  const std::string line = fmt::format("onedim: {}\n", one_line(message_of(status)));
  if (is_mine_to_tell(line)) std::fwrite(line.data(), 1, line.size(), stderr);
  return static_cast<int>(exit_code_of(status));
}

// For what no status foresaw, such as memory that is short.
int fail_by(const std::exception& error) {
  const int code = static_cast<int>(ExitCode::kEnvironment);
  clear_progress();
  std::fprintf(stderr, "onedim: %s\n", error.what());
  command_has_ended(code);
  return code;
}

// Ends the output; `code`, or that of output that could not be written.
int finish(Session& session, int code) {
  if (session.finish()) return code;
  return fail(absl::UnavailableError("the output could not be written"));
}

int run_session(Session& session) {
  const Result<ExitCode> code = session.run();
  shutdown_packs();
  clear_progress();
  if (code.ok()) return finish(session, static_cast<int>(*code));
  session.finish();
  return fail(code.status());
}

int run_command(int argc, char** argv) {
  Session session;
  CLI::App app(kDescription, "onedim");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.fallthrough();
  add_global_flags(app, session.flags);
  add_commands(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked_for_help) {
    return finish(session, app.exit(asked_for_help));
  } catch (const CLI::ParseError& error) {
    return fail(usage_error(app, error));
  }
  if (const Status status = check_values(app); !status.ok()) return fail(status);
  const int code = run_session(session);
  command_has_ended(code);
  return code;
}

}  // namespace
}  // namespace onedim

int main(int argc, char** argv) {
  // A reader that went away ends the command silently, also where the parent had the signal
  // ignored.
  std::signal(SIGPIPE, SIG_DFL);
  try {
    return onedim::run_command(argc, argv);
  } catch (const std::exception& error) {
    return onedim::fail_by(error);
  }
}
