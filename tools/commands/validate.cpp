#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "core/base/child_process.hpp"
#include "core/base/shell_text.hpp"
#include "core/validate/worker.hpp"
#include "core/validate/worker_pool.hpp"
#include "tools/call_check.hpp"
#include "tools/commands/commands.hpp"
#include "tools/flag_values.hpp"
#include "tools/idle_rules.hpp"
#include "tools/op_names.hpp"
#include "tools/validate_text.hpp"
#include "tools/worker_command.hpp"

namespace onedim {
namespace {

struct ValidateFlags {
  std::vector<std::string> ops;
  std::string inputs;
  std::vector<std::string> attributes;
  std::vector<std::string> claims;
  StrategyText strategy;
  std::string strategies = "0";
  std::string worlds = "2,3,4";
  std::string seed = "1";
  std::string draws = std::to_string(CaseOptions{}.draws);
  std::string jobs;
  std::string deadline = "60";
  bool mutate = false;
  bool nonfinite = false;
  bool in_process = false;
  bool times = false;
  bool has_case = false;  // --inputs or --attr was given
};

constexpr uint64_t kMostJobs = 1024;
constexpr uint64_t kMostDraws = 1'000'000;
constexpr uint64_t kMostStrategies = 1'000'000;
constexpr std::chrono::seconds kStartAllowance{10};  // for a child to load the packs

// What the flags say.
struct Plan {
  ValidateOptions options;
  int jobs = 1;
  std::chrono::milliseconds deadline;
};

// Which of the flags of one strategy and of many were given, and whether they go together.
Status check_strategy_flags(const ValidateFlags& flags, uint64_t strategies) {
  const StrategyText& one = flags.strategy;
  if (!flags.claims.empty() && strategies > 0)
    return invalid_argument("--strategies tries the rules of the op, and does not go with --claim");
  if (one.rules.empty()) {
    if (!one.order.empty())
      return invalid_argument("--order needs the rules it is about: --strategy");
    if (!one.mesh.empty() && strategies == 0)
      return invalid_argument("--mesh needs --strategy, one for each mesh dim, or --strategies");
    return absl::OkStatus();
  }
  if (one.mesh.empty())
    return invalid_argument("--strategy needs the mesh it is about; add --mesh a=2,b=2");
  if (!flags.has_case) {
    return invalid_argument("--strategy needs the call it is about; add --inputs 'f32[4,6]; ...'");
  }
  if (!flags.claims.empty() || strategies > 0)
    return invalid_argument("--strategy goes with neither --claim nor --strategies");
  return annotate(parse_strategy(one).status(), "--strategy");
}

Status read_strategies(const ValidateFlags& flags, ValidateOptions& options) {
  const Result<uint64_t> strategies =
      parse_whole("--strategies", flags.strategies, 0, kMostStrategies);
  if (!strategies.ok()) return strategies.status();
  options.strategies = static_cast<int>(*strategies);
  if (!flags.strategy.mesh.empty()) {
    Result<Mesh> mesh = parse_judged_mesh(flags.strategy.mesh);
    if (!mesh.ok()) return annotate(mesh.status(), "--mesh");
    options.meshes = {*std::move(mesh)};
  }
  return check_strategy_flags(flags, *strategies);
}

Result<Plan> read_flags(const ValidateFlags& flags) {
  const Result<std::vector<int64_t>> worlds = parse_worlds("--worlds", flags.worlds);
  if (!worlds.ok()) return worlds.status();
  const Result<uint64_t> seed = parse_whole("--seed", flags.seed, 0, UINT64_MAX);
  if (!seed.ok()) return seed.status();
  const Result<uint64_t> draws = parse_whole("--draws", flags.draws, 1, kMostDraws);
  if (!draws.ok()) return draws.status();
  const std::string cores = std::to_string(std::max(1u, std::thread::hardware_concurrency()));
  const Result<uint64_t> jobs =
      parse_whole("-j", flags.jobs.empty() ? cores : flags.jobs, 1, kMostJobs);
  if (!jobs.ok()) return jobs.status();
  const Result<double> deadline = parse_seconds("--deadline", flags.deadline);
  if (!deadline.ok()) return deadline.status();
  if (!flags.claims.empty() && !flags.has_case) {
    return invalid_argument("--claim needs the call it is about; add --inputs 'f32[4,6]; ...'");
  }
  Plan plan;
  plan.options.cases.worlds = *worlds;
  plan.options.cases.seed = *seed;
  plan.options.cases.draws = static_cast<int>(*draws);
  plan.options.mutate = flags.mutate;
  plan.options.nonfinite = flags.nonfinite;
  if (Status status = read_strategies(flags, plan.options); !status.ok()) return status;
  plan.jobs = static_cast<int>(*jobs);
  plan.deadline =
      std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(*deadline));
  return plan;
}

Result<std::vector<const Op*>> chosen_ops(const Registry& registry, const ValidateFlags& flags) {
  if (flags.ops.empty()) {
    if (flags.has_case) return invalid_argument("--inputs needs the op it is a call of");
    return registry.ops();
  }
  if (flags.has_case) {
    if (flags.ops.size() > 1)
      return invalid_argument("--inputs is a call of one op, but {} are given", flags.ops.size());
    const Result<const Op*> op = find_op(registry, flags.ops.front());
    if (!op.ok()) return op.status();
    return std::vector<const Op*>{*op};
  }
  std::vector<const Op*> chosen;
  std::set<const Op*> seen;
  for (const std::string& name : flags.ops) {
    const Result<std::vector<const Op*>> ops = find_ops(registry, name);
    if (!ops.ok()) return ops.status();
    for (const Op* op : *ops) {
      if (seen.insert(op).second) chosen.push_back(op);
    }
  }
  return chosen;
}

// Asks a child what is wrong with the call. One that does not answer is no mistake of the user's:
// the workers will end alike, and report it.
Status check_in_child(const OpRequest& request, const std::vector<PackReport>& packs,
                      std::chrono::milliseconds deadline) {
  std::vector<std::string> part{"check-call", "--op", request.op, "--call=" + *request.call};
  for (const std::string& claim : request.claims) part.push_back("--claim=" + claim);
  Result<ChildProcess> child =
      ChildProcess::start(child_command(std::move(part), packs), ChildProcess::Input::kNone);
  if (!child.ok()) return child.status();
  std::string line;
  if (child->read_line(deadline + kStartAllowance, line) != ChildProcess::Read::kLine)
    return absl::OkStatus();
  const size_t space = std::min(line.find(' '), line.size());
  const Result<uint64_t> code = parse_whole("code", line.substr(0, space), 0, 16);
  if (!code.ok())
    return absl::InternalError(fmt::format("the check of the call says \"{}\"", line));
  return Status(static_cast<absl::StatusCode>(*code),
                line.substr(std::min(space + 1, line.size())));
}

// Mistakes in what was typed are told here, in one line, and not op by op.
Result<std::vector<OpRequest>> make_requests(Session& session, const std::vector<const Op*>& ops,
                                             const ValidateFlags& flags, const Plan& plan) {
  std::vector<OpRequest> requests;
  for (const Op* op : ops) requests.push_back({op->name(), std::nullopt, flags.claims});
  if (!flags.has_case) return requests;
  const Op& op = *ops.front();
  const Result<CallText> call = parse_call(op.schema, flags.inputs, flags.attributes);
  if (!call.ok()) return call.status();
  if (Status status = check_typed_call(call->call, flags.claims); !status.ok()) return status;
  requests.front().call = format_call(call->call, call->domains);
  if (!flags.strategy.rules.empty()) requests.front().strategy = flags.strategy;
  const auto packs = session.pack_reports({});
  if (!packs.ok()) return packs.status();
  const Status status = flags.in_process
                            ? check_call(op, call->call, flags.claims, session.loaded())
                            : check_in_child(requests.front(), **packs, plan.deadline);
  if (!status.ok()) return status;
  return requests;
}

Result<std::vector<OpReport>> run_requests(Session& session, const Registry& registry,
                                           const std::vector<OpRequest>& requests, Plan plan,
                                           bool in_process) {
  ValidateOptions& options = plan.options;
  const auto progress = [&session](size_t done, size_t total, const std::string& op) {
    session.progress(fmt::format("validating {}/{} {}", done + 1, total, op));
  };
  if (!in_process) {
    options.threads = requests.size() < static_cast<size_t>(plan.jobs) ? plan.jobs : 1;
    const auto packs = session.pack_reports({});
    if (!packs.ok()) return packs.status();
    const std::vector<std::string> command =
        child_command({"validate-worker", "--options", options_text(options)}, **packs);
    return run_in_workers(requests, {command, plan.jobs, plan.deadline, progress});
  }
  std::vector<OpReport> reports;
  options.threads = plan.jobs;
  for (const OpRequest& request : requests) {
    progress(reports.size(), requests.size(), request.op);
    reports.push_back(validate_op(*registry.find(request.op), request, registry, options));
  }
  return reports;
}

// `text` with the flags that the command which ends it needs as much as this one did.
std::string with_given_flags(std::string text, const GlobalFlags& global, int draws) {
  constexpr std::string_view kProgram = "onedim", kCommand = "onedim validate ";
  const size_t at = text.find(kCommand);
  if (at == std::string::npos) return text;
  std::string flags;
  for (const std::string& path : global.pack_paths) flags += " -p " + shell_word(path);
  if (!global.config.empty()) flags += " --config " + shell_word(global.config);
  text.insert(at + kProgram.size(), flags);
  if (draws != CaseOptions{}.draws) text += fmt::format(" --draws {}", draws);
  return text;
}

// Adds what only this process knows: packs, flags, and the rules that no worker judges.
void complete(OpReport& report, const OpRequest& request, const Registry& registry,
              const GlobalFlags& flags, int draws) {
  const Op& op = *registry.find(request.op);
  report.pack = op.pack;  // a crashed worker does not tell
  for (auto* findings : {&report.incorrect, &report.missing}) {
    for (RuleFinding& finding : *findings)
      finding.repro = with_given_flags(finding.repro, flags, draws);
  }
  for (StrategyFinding& finding : report.strategies)
    finding.repro = with_given_flags(finding.repro, flags, draws);
  for (std::string& error : report.errors) error = with_given_flags(error, flags, draws);
  // Only what a worker has called without a fault is called here.
  const bool judges_rules = request.claims.empty() && !request.strategy;
  if (report.crashed || !report.errors.empty() || !judges_rules) return;
  IdleRules idle = idle_rules(op, request.call, registry);
  for (std::string& note : idle.disabled) report.notes.push_back(std::move(note));
  for (std::string& rule : idle.unfit)
    report.unexercised.push_back({std::move(rule), "all samples", "it fits none of them", {}});
}

Result<ExitCode> run_validate(Session& session, const ValidateFlags& flags) {
  const Result<Plan> plan = read_flags(flags);
  if (!plan.ok()) return plan.status();
  if (flags.in_process) session.do_not_supervise();
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<std::vector<const Op*>> ops = chosen_ops(**registry, flags);
  if (!ops.ok()) return ops.status();
  const Result<std::vector<OpRequest>> requests = make_requests(session, *ops, flags, *plan);
  if (!requests.ok()) return requests.status();
  const auto start = std::chrono::steady_clock::now();
  Result<std::vector<OpReport>> reports =
      run_requests(session, **registry, *requests, *plan, flags.in_process);
  if (!reports.ok()) return reports.status();
  for (const OpReport& report : *reports) {
    if (!report.misuse.empty()) return invalid_argument("{}", report.misuse);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (size_t i = 0; i < reports->size(); ++i) {
    complete((*reports)[i], (*requests)[i], **registry, session.flags, plan->options.cases.draws);
  }
  if (session.flags.json) {
    session.write_json(
        validate_json(*reports, flags.times ? std::optional<double>(seconds) : std::nullopt));
  } else {
    const bool claims = !flags.claims.empty() || !flags.strategy.rules.empty();
    session.write(validate_text(*reports, seconds, claims));
  }
  const bool clean = std::all_of(reports->begin(), reports->end(),
                                 [](const OpReport& report) { return report.is_clean(); });
  return clean ? ExitCode::kFine : ExitCode::kFindings;
}

void add_strategy_flags(CLI::App& command, ValidateFlags& flags) {
  command
      .add_option("--strategies", flags.strategies,
                  "Also try so many random strategies of each op on each of a=2,b=2, a=2,b=3 and "
                  "a=2,b=2,c=2, or on --mesh (default: 0)")
      ->type_name("N");
  command
      .add_option("--strategy", flags.strategy.rules,
                  "Judge these rules of the op together on the call, one for each mesh dim "
                  "(repeatable)")
      ->type_name("RULE")
      ->allow_extra_args(false);
  command
      .add_option("--mesh", flags.strategy.mesh,
                  "Of strategies, outermost dim first, such as a=2,b=2")
      ->type_name("MESH");
  command
      .add_option("--order", flags.strategy.order,
                  "Mesh dims in the order in which they cut, such as b,a (default: left to right)")
      ->type_name("DIM,DIM");
}

}  // namespace

void add_validate(CLI::App& app, Session& session) {
  auto flags = std::make_shared<ValidateFlags>();
  CLI::App* command =
      app.add_subcommand("validate", "Prove or refute sharding rules by brute force");
  command->add_option("op", flags->ops, "Ops, such as mm or add.*; all if none is given")
      ->type_name("OP");
  const CLI::Option* inputs =
      command
          ->add_option("--inputs", flags->inputs,
                       "Tensors of one call, such as 'f32[4,6]; f32[6,8]', instead of the samples")
          ->type_name("TENSORS");
  const CLI::Option* attributes =
      command->add_option("--attr", flags->attributes, "Attribute of the call (repeatable)")
          ->type_name("NAME=VALUE")
          ->allow_extra_args(false);
  command
      ->add_option(
          "--claim", flags->claims,
          "Judge this rule on the call, such as 'P(sum) | S(1), S(0)', with the conditions "
          "behind it that findings print (repeatable)")
      ->type_name("RULE")
      ->allow_extra_args(false);
  add_strategy_flags(*command, *flags);
  command->add_option("--worlds", flags->worlds, "Numbers of ranks (default: 2,3,4)")
      ->type_name("N,N");
  command->add_option("--seed", flags->seed, "Of the drawn values (default: 1)")->type_name("N");
  command->add_option("--draws", flags->draws, "Draws of values for each size and world")
      ->type_name("N");
  command
      ->add_option("-j,--jobs", flags->jobs,
                   "Processes at once (default: all cores); the result is the same")
      ->type_name("N");
  command->add_option("--deadline", flags->deadline, "Seconds that one op may take")
      ->type_name("SECONDS");
  command->add_flag("--mutate", flags->mutate,
                    "Also change every rule in one slot and count the false ones caught");
  command->add_flag("--nonfinite", flags->nonfinite, "Also note what fails for infinities and NaN");
  command->add_flag("--times", flags->times,
                    "Fill in the seconds of --json, which are null otherwise, so that the same "
                    "findings give the same document");
  command->add_flag("--in-process", flags->in_process,
                    "Judge in this process, where a debugger sees it");
  command->footer(
      "Exit code 1 if a rule is wrong, missing or never exercised, or an op cannot be judged.\n"
      "Example: onedim validate mm --inputs 'f32[4,6]; f32[6,8]' --claim 'P(sum) | S(1), S(0)'");
  command->callback([flags, inputs, attributes, &session] {
    flags->has_case = inputs->count() + attributes->count() > 0;
    session.choose([flags, &session] { return run_validate(session, *flags); });
  });
}

}  // namespace onedim
