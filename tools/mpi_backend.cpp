#include "tools/mpi_backend.hpp"

#include <unistd.h>

#include <cstdlib>

#include "core/base/one_line.hpp"
#include "tools/supervisor.hpp"
#include "tools/torchrun_launch.hpp"

namespace onedim {
namespace {

std::string records_line(const std::string& folder) {
  return fmt::format("onedim: the ranks' records are in {0}: onedim run --post-mortem {0}\n",
                     folder);
}

// Called by the watchdog, too, while other threads may hold any lock of stdio.
void tell(const std::string& folder, std::string_view why) {
  const std::string text = fmt::format("onedim: {}\n{}", one_line(why), records_line(folder));
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

void MpiFlags::add_to(CLI::App& command) {
  command
      .add_option("--deadline", deadline,
                  "Seconds that a rank waits for others in one collective, on mpi")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 86400.0))
      ->capture_default_str();
  command
      .add_option("--record", record,
                  "Folder for the ranks' flight records and outputs, on mpi (default: a new one, "
                  "kept only where the run fails)")
      ->type_name("DIR");
  // For tests.
  command.add_option("--fault", fault)->group("");
  command.add_option("--mpi-module", module)->group("");
  command.add_option("--mpi-largest", largest_count)
      ->check(CLI::Range(int64_t{1}, int64_t{INT32_MAX}))
      ->group("");
}

Result<SimOptions> MpiFlags::sim_options(bool has_threads) const {
  SimOptions options;
  options.has_threads = has_threads;
  options.deadline = std::chrono::milliseconds(static_cast<int64_t>(deadline * 1e3));
  if (fault.empty()) return options;
  const Result<Fault> parsed = Fault::parse(fault);
  if (!parsed.ok()) return annotate(parsed.status(), "--fault");
  options.fault = *parsed;
  return options;
}

Result<std::optional<ExitCode>> run_where_torchrun_started() {
  const Variables variables = [](const char* name) { return std::getenv(name); };
  const Result<Launch> launch = find_launch(variables);
  if (!launch.ok()) return launch.status();
  if (launch->launcher != "torchrun") return std::nullopt;
  const Result<TorchrunLaunch> torchrun = find_torchrun(*launch, variables);
  if (!torchrun.ok()) return torchrun.status();
  const Result<int> code = run_by_torchrun(*torchrun, own_command_line());
  if (!code.ok()) return code.status();
  return static_cast<ExitCode>(*code);
}

Result<MpiBackend> MpiBackend::find(Session& session, const MpiFlags& flags) {
  const Result<Launch> launch = find_launch([](const char* name) { return std::getenv(name); });
  if (!launch.ok()) return launch.status();
  if (launch->launcher.empty()) {
    return invalid_argument(
        "--backend mpi: this process is not one of several; start it by mpirun -n N onedim run "
        "..., N being the ranks of --mesh");
  }
  MpiOptions options;
  options.module = flags.module;
  options.folder = flags.record;
  options.deadline = std::chrono::milliseconds(static_cast<int64_t>(flags.deadline * 1e3));
  options.largest_count = flags.largest_count;
  if (!flags.fault.empty()) {
    Result<Fault> fault = Fault::parse(flags.fault);
    if (!fault.ok()) return annotate(fault.status(), "--fault");
    options.fault = *fault;
  }
  if (launch->rank != 0) {
    if (Status status = session.write_to("/dev/null"); !status.ok()) return status;
  }
  return MpiBackend(session, std::move(options), launch->rank == 0);
}

Status MpiBackend::start(const Mesh& mesh) {
  const auto last_words = [](std::string_view why, const std::string& folder) {
    if (!why.empty()) tell(folder, why);
    command_has_ended(Watchdog::kExitCode);
  };
  Result<std::unique_ptr<MpiWorld>> world = MpiWorld::start(mesh, options_, last_words);
  if (!world.ok()) return world.status();
  world_ = *std::move(world);
  if (world_->rank() == 0) return {};
  return session_.write_to(fmt::format("{}/rank-{}.out", world_->folder(), world_->rank()));
}

void MpiBackend::give_up(const Status& status) {
  const bool tells = world_->channel().claim_report();
  world_->channel().fail(message_of(status));
  if (tells) tell(world_->folder(), message_of(status));
  session_.finish();
  const int code = static_cast<int>(failure_code_.value_or(exit_code_of(status)));
  command_has_ended(code);
  ::_exit(code);
}

Result<ExitCode> MpiBackend::finish(const Result<ExitCode>& outcome) {
  if (world_ == nullptr) return outcome;
  if (!outcome.ok()) give_up(outcome.status());
  const Result<int> worst = world_->finish(static_cast<int>(*outcome));
  if (!worst.ok()) give_up(worst.status());
  return static_cast<ExitCode>(*worst);
}

Result<std::string> post_mortem(const std::string& folder) {
  const Result<RunRecords> run = read_records(folder);
  if (!run.ok()) return run.status();
  std::string stall = reported_stall(run->records);
  if (stall.empty()) stall = describe_stall(run->mesh, run->records);
  return (stall.empty() ? "no rank is behind" : stall) + "\n" +
         describe_ranks(run->mesh, run->records);
}

}  // namespace onedim
