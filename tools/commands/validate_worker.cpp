#include "core/base/child_process.hpp"
#include "core/validate/worker.hpp"
#include "tools/commands/commands.hpp"

namespace onedim {
namespace {

struct WorkerOptions {
  std::string options;
  std::vector<std::string> files;
};

Result<ExitCode> run_worker(Session& session, const WorkerOptions& worker) {
  enter_child_process();
  const Result<ValidateOptions> options = parse_options_text(worker.options);
  if (!options.ok()) return options.status();
  return static_cast<ExitCode>(worker_main(session.load_files(worker.files), *options));
}

}  // namespace

void add_validate_worker(CLI::App& app, Session& session) {
  auto worker = std::make_shared<WorkerOptions>();
  CLI::App* command =
      app.add_subcommand("validate-worker", "Judge ops as stdin asks (for validate)");
  command->group("");
  command->add_option("--options", worker->options)->required();
  command->add_option("file", worker->files)->required();
  command->callback([worker, &session] {
    session.choose([worker, &session] { return run_worker(session, *worker); });
  });
}

}  // namespace onedim
