#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/solve/assignment_check.hpp"
#include "core/solve/iopddl_read.hpp"
#include "core/solve/solver.hpp"
#include "tools/commands/commands.hpp"
#include "tools/solving_flags.hpp"

namespace onedim {
namespace {

using Clock = std::chrono::steady_clock;

struct SolveFlags {
  std::string file;
  SolvingFlags solving;
};

struct Solved {
  CostNetwork network;
  NetworkSolution solution;
  AssignmentCheck check;
  double seconds = 0;
};

// A whole number where JSON readers take one, otherwise its digits.
Json wide_json(WideCost cost) {
  if (cost >= std::numeric_limits<int64_t>::min() && cost <= std::numeric_limits<int64_t>::max())
    return static_cast<int64_t>(cost);
  return format_wide(cost);
}

double gap_of(const NetworkSolution& solution) {
  if (solution.cost == solution.lower_bound) return 0;
  const auto cost = static_cast<double>(solution.cost);
  return (cost - static_cast<double>(solution.lower_bound)) / std::max(std::abs(cost), 1.0);
}

Json solve_json(const Solved& solved) {
  const NetworkSolution& solution = solved.solution;
  Json json = {{"name", solved.network.name},
               {"nodes", solved.network.nodes.size()},
               {"edges", solved.network.edges.size()},
               {"cost", wide_json(solution.cost)},
               {"lower_bound", wide_json(solution.lower_bound)},
               {"gap", gap_of(solution)},
               {"optimal", solution.state == SolveState::kOptimal},
               {"effort", solution.effort},
               {"stopped", solution.was_stopped},
               {"seconds", solved.seconds},
               {"peak_bytes", wide_json(solved.check.peak_bytes)},
               {"peak_time", solved.check.peak_time}};
  json["memory_limit"] =
      solved.network.memory_limit ? Json(*solved.network.memory_limit) : Json(nullptr);
  json["forbidden"] = solved.check.forbidden;
  json["checked"] = true;
  json["assignment"] = solution.assignment;
  return json;
}

std::string solve_text(const Solved& solved) {
  const NetworkSolution& solution = solved.solution;
  std::string text = fmt::format("{}: {} nodes, {} edges\n", solved.network.name,
                                 solved.network.nodes.size(), solved.network.edges.size());
  text += fmt::format("cost {}, lower bound {}, gap {:.3g} %{}\n", format_wide(solution.cost),
                      format_wide(solution.lower_bound), 100 * gap_of(solution),
                      solution.state == SolveState::kOptimal ? ": optimal" : "");
  text += fmt::format(
      "effort {}, {:.2f} s{}\n", solution.effort, solved.seconds,
      solution.was_stopped
          ? fmt::format("; stopped by the time, the same again: --effort {}", solution.effort)
          : "");
  text += fmt::format("checked: it costs that, and holds {} bytes at most, at time {}{}",
                      format_wide(solved.check.peak_bytes), solved.check.peak_time,
                      solved.network.memory_limit
                          ? fmt::format("; the limit is {}\n", *solved.network.memory_limit)
                          : "\n");
  if (solved.check.forbidden > 0)
    text += fmt::format("{} of its costs are forbidden ones\n", solved.check.forbidden);
  return text + fmt::format("[{}]\n", fmt::join(solution.assignment, ", "));
}

std::string refusal(const CostNetwork& network, const NetworkSolution& solution) {
  if (solution.state == SolveState::kInfeasible) {
    return fmt::format("no assignment is within the memory limit of {} bytes",
                       network.memory_limit.value_or(0));
  }
  return fmt::format(
      "no assignment was found, nor shown not to exist, with effort {}; none costs less than {}; "
      "give more with --effort or --time-limit",
      solution.effort, format_wide(solution.lower_bound));
}

Result<ExitCode> run_solve(Session& session, const SolveFlags& flags) {
  const Clock::time_point start = Clock::now();
  const Result<SolveOptions> options = flags.solving.options(start);
  if (!options.ok()) return options.status();
  Solved solved;
  Result<CostNetwork> network = read_iopddl(flags.file);
  if (!network.ok()) return network.status();
  solved.network = *std::move(network);
  Result<NetworkSolution> solution = solve(solved.network, *options);
  if (!solution.ok())
    return invalid_argument("\"{}\": {}", flags.file, message_of(solution.status()));
  solved.solution = *std::move(solution);
  if (solved.solution.assignment.size() != solved.network.nodes.size() ||
      solved.solution.state == SolveState::kInfeasible ||
      solved.solution.state == SolveState::kUnknown) {
    session.refuse(refusal(solved.network, solved.solution));
    return ExitCode::kFindings;
  }
  const Result<AssignmentCheck> check =
      check_assignment(solved.network, solved.solution.assignment);
  if (!check.ok()) return check.status();
  solved.check = *check;
  if (!check->is_within_limit || check->cost != solved.solution.cost)
    return absl::InternalError("the solution is not what the solver says it is");
  solved.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (session.flags.json) {
    session.write_json(solve_json(solved));
  } else {
    session.write(solve_text(solved));
  }
  return ExitCode::kFine;
}

}  // namespace

void add_solve(CLI::App& app, Session& session) {
  auto flags = std::make_shared<SolveFlags>();
  CLI::App* command =
      app.add_subcommand("solve", "Solve a cost network of the IOPDDL contest, with a proof");
  command->add_option("file", flags->file, "Instance, JSON, plain or gzip")
      ->type_name("FILE")
      ->required();
  flags->solving.add_to(*command);
  command->footer(
      "The last line is the assignment, one value a node. Exit code 1 if there is none. Numbers\n"
      "beyond 64 bits are strings in JSON; gap is (cost - lower_bound) / cost.\n"
      "Example: onedim solve instance.json --time-limit 60");
  command->callback([flags, &session] {
    session.choose([flags, &session] { return run_solve(session, *flags); });
  });
}

}  // namespace onedim
