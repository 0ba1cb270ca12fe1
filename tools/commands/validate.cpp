#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "core/base/text.hpp"
#include "core/validate/claim.hpp"
#include "core/validate/worker.hpp"
#include "core/validate/worker_pool.hpp"
#include "tools/commands/commands.hpp"
#include "tools/op_names.hpp"
#include "tools/validate_text.hpp"

namespace onedim {
namespace {

struct ValidateFlags {
  std::vector<std::string> ops;
  std::string inputs;
  std::vector<std::string> attributes;
  std::vector<std::string> claims;
  std::vector<int64_t> worlds;
  uint64_t seed = 1;
  int draws = CaseOptions{}.draws;
  int jobs = 0;
  double deadline = 60;
  bool mutate = false;
  bool nonfinite = false;
  bool in_process = false;
  bool has_case = false;  // --inputs or --attr was given
};

constexpr int64_t kMostRanks = 64;

Status check_flags(const ValidateFlags& flags) {
  for (const int64_t world : flags.worlds) {
    if (world < 2 || world > kMostRanks) {
      return invalid_argument("--worlds: {} is no number of ranks from 2 to {}", world, kMostRanks);
    }
  }
  if (flags.draws < 1) return invalid_argument("--draws: at least 1, not {}", flags.draws);
  if (flags.jobs < 0) return invalid_argument("-j: at least 1, not {}", flags.jobs);
  if (!(flags.deadline > 0))
    return invalid_argument("--deadline: above 0 seconds, not {}", flags.deadline);
  if (!flags.claims.empty() && !flags.has_case) {
    return invalid_argument("--claim needs the call it is about; add --inputs 'f32[4,6]; ...'");
  }
  return absl::OkStatus();
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

// Mistakes in what was typed are told here, in one line, and not op by op.
Result<std::vector<OpRequest>> make_requests(const std::vector<const Op*>& ops,
                                             const ValidateFlags& flags) {
  std::vector<OpRequest> requests;
  for (const Op* op : ops) requests.push_back({op->name(), std::nullopt, flags.claims});
  if (!flags.has_case) return requests;
  const Op& op = *ops.front();
  const Result<CallText> call = parse_call(op.schema, flags.inputs, flags.attributes);
  if (!call.ok()) return call.status();
  const Result<Subject> subject = make_subject(op, *call);
  if (!subject.ok()) return subject.status();
  for (const std::string& claim : flags.claims) {
    const Result<Rule> rule = parse_claim(claim);
    if (!rule.ok()) return annotate(rule.status(), "--claim");
    if (rule->inputs.size() == call->call.inputs.size() &&
        rule->outputs.size() == subject->outputs.size())
      continue;
    return invalid_argument(
        "--claim \"{}\": the call has {} output and {} input slots, the rule {} and {}", claim,
        subject->outputs.size(), call->call.inputs.size(), rule->outputs.size(),
        rule->inputs.size());
  }
  requests.front().call = format_call(call->call, call->domains);
  return requests;
}

ValidateOptions validate_options(const ValidateFlags& flags) {
  ValidateOptions options;
  if (!flags.worlds.empty()) options.cases.worlds = flags.worlds;
  options.cases.seed = flags.seed;
  options.cases.draws = flags.draws;
  options.mutate = flags.mutate;
  options.nonfinite = flags.nonfinite;
  return options;
}

int job_count(const ValidateFlags& flags) {
  return flags.jobs > 0 ? flags.jobs
                        : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::vector<std::string> worker_command(const std::vector<PackReport>& packs,
                                        const ValidateOptions& options) {
  std::vector<std::string> command{own_executable(),  "--quiet",   "--no-probe",
                                   "validate-worker", "--options", options_text(options)};
  for (const PackReport& pack : packs) {
    if (pack.verdict.ok()) command.push_back(pack.path);
  }
  return command;
}

Result<std::vector<OpReport>> run_requests(Session& session, const Registry& registry,
                                           const std::vector<OpRequest>& requests,
                                           const ValidateFlags& flags) {
  ValidateOptions options = validate_options(flags);
  const int jobs = job_count(flags);
  options.threads = requests.size() < static_cast<size_t>(jobs) ? jobs : 1;
  const auto progress = [&session](size_t done, size_t total, const std::string& op) {
    session.progress(fmt::format("validating {}/{} {}", done + 1, total, op));
  };
  if (!flags.in_process) {
    const auto packs = session.pack_reports({});
    if (!packs.ok()) return packs.status();
    const auto deadline = std::chrono::milliseconds(static_cast<int64_t>(flags.deadline * 1000));
    return run_in_workers(requests, {worker_command(**packs, options), jobs, deadline, progress});
  }
  std::vector<OpReport> reports;
  options.threads = jobs;
  for (const OpRequest& request : requests) {
    progress(reports.size(), requests.size(), request.op);
    reports.push_back(validate_op(*registry.find(request.op), request, registry, options));
  }
  return reports;
}

Result<ExitCode> run_validate(Session& session, const ValidateFlags& flags) {
  if (Status status = check_flags(flags); !status.ok()) return status;
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<std::vector<const Op*>> ops = chosen_ops(**registry, flags);
  if (!ops.ok()) return ops.status();
  const Result<std::vector<OpRequest>> requests = make_requests(*ops, flags);
  if (!requests.ok()) return requests.status();
  const auto start = std::chrono::steady_clock::now();
  Result<std::vector<OpReport>> reports = run_requests(session, **registry, *requests, flags);
  if (!reports.ok()) return reports.status();
  for (OpReport& report : *reports)
    report.pack = (*registry)->find(report.op)->pack;  // a crashed worker does not tell
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (session.flags.json) {
    session.write_json(validate_json(*reports, seconds));
  } else {
    session.write(validate_text(*reports, seconds, !flags.claims.empty()));
  }
  const bool clean = std::all_of(reports->begin(), reports->end(),
                                 [](const OpReport& report) { return report.is_clean(); });
  return clean ? ExitCode::kFine : ExitCode::kFindings;
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
      ->add_option("--claim", flags->claims,
                   "Judge this rule on the call, such as 'P(sum) | S(1), S(0)' (repeatable)")
      ->type_name("RULE")
      ->allow_extra_args(false);
  command->add_option("--worlds", flags->worlds, "Numbers of ranks (default: 2,3,4)")
      ->delimiter(',')
      ->type_name("N,N");
  command->add_option("--seed", flags->seed, "Of the drawn values");
  command->add_option("--draws", flags->draws, "Draws of values for each size and world");
  command->add_option("-j,--jobs", flags->jobs,
                      "Processes at once (default: all cores); the result is the same");
  command->add_option("--deadline", flags->deadline, "Seconds that one op may take")
      ->type_name("SECONDS");
  command->add_flag("--mutate", flags->mutate,
                    "Also change every rule in one slot and count the false ones caught");
  command->add_flag("--nonfinite", flags->nonfinite, "Also note what fails for infinities and NaN");
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
