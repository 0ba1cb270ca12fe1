#include "core/base/child_process.hpp"
#include "core/base/one_line.hpp"
#include "tools/call_check.hpp"
#include "tools/commands/commands.hpp"

namespace onedim {
namespace {

struct CheckOptions {
  std::string op;
  std::string call;
  std::vector<std::string> claims;
  std::vector<std::string> files;
};

Status check(Session& session, const CheckOptions& options) {
  const Registry& registry = session.load_files(options.files);
  const Op* op = registry.find(options.op);
  if (op == nullptr) return absl::InternalError(fmt::format("{} is not loaded", options.op));
  const Result<CallText> call = parse_call(op->schema, options.call);
  if (!call.ok()) return call.status();
  return check_call(*op, call->call, options.claims, registry);
}

// Answers in one line: the status's code and message.
Result<ExitCode> run_check(Session& session, const CheckOptions& options) {
  enter_child_process();
  session.keep_stdout();
  const Status status = check(session, options);
  session.write(
      fmt::format("{} {}\n", static_cast<int>(status.code()), one_line(message_of(status))));
  return ExitCode::kFine;
}

}  // namespace

void add_check_call(CLI::App& app, Session& session) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      app.add_subcommand("check-call", "Say whether an op takes a call and claims (for validate)");
  command->group("");
  command->add_option("--op", options->op)->required();
  command->add_option("--call", options->call)->required();
  command->add_option("--claim", options->claims)->allow_extra_args(false);
  command->add_option("file", options->files)->required();
  command->callback([options, &session] {
    session.choose([options, &session] { return run_check(session, *options); });
  });
}

}  // namespace onedim
