#include "tools/graph_runs.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/exec/mpi_graph.hpp"
#include "core/graph/graph_rewrite.hpp"
#include "core/graph/solution_file.hpp"
#include "tools/flag_values.hpp"
#include "tools/graph_values.hpp"
#include "tools/run_report.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostRanks = 1024;
constexpr double kMostErrorInF64 = 1e-9;

// A graph that ran, with what its report refers to.
struct RanGraph {
  GraphTask task;
  GraphRunReport report;
};

const OutputDistance* furthest(const GraphRunReport& report) {
  const auto most = std::max_element(report.outputs.begin(), report.outputs.end(),
                                     [](const OutputDistance& a, const OutputDistance& b) {
                                       return a.relative_error < b.relative_error;
                                     });
  return most == report.outputs.end() ? nullptr : &*most;
}

Json outputs_json(const GraphTask& task, const GraphRunReport& report) {
  Json list = Json::array();
  for (const OutputDistance& distance : report.outputs) {
    list.push_back({{"value", task.graph().values[distance.value].name},
                    {"layout", format_layout(task.output_layout(distance.value), task.mesh())},
                    {"bit_equal", distance.is_bit_equal},
                    {"max_abs_error", distance.max_abs_error},
                    {"relative_error", distance.relative_error}});
  }
  return list;
}

Json report_json(const GraphTask& task, const GraphRunReport& report) {
  double max_abs_error = 0, max_ulp = 0;
  bool is_bit_equal = true;
  for (const OutputDistance& distance : report.outputs) {
    max_abs_error = std::max(max_abs_error, distance.max_abs_error);
    max_ulp = std::max(max_ulp, distance.max_ulp);
    is_bit_equal &= distance.is_bit_equal;
  }
  Json json{{"equal", report.is_equal},
            {"bit_equal", is_bit_equal},
            {"max_abs_error", max_abs_error},
            {"max_ulp", max_ulp},
            {"nodes", report.verdict.nodes},
            {"moves", report.verdict.moves},
            {"node_max_abs_error", report.verdict.max_abs_error},
            {"node_max_ulp", report.verdict.max_ulp},
            {"outputs", outputs_json(task, report)}};
  if (!report.is_equal) json["difference"] = report.difference;
  return json;
}

std::string verdict_text(const GraphRunReport& report) {
  if (!report.is_equal) return "not equal to the graph on whole tensors\n" + report.difference;
  const OutputDistance* most = furthest(report);
  std::string text = report.verdict.is_bit_equal ? "each is bit equal to its op on whole tensors"
                                                 : "each is equal to its op on whole tensors";
  if (most == nullptr) return text;
  if (most->relative_error == 0) return text + ", and so are the outputs to those of the graph";
  return text +
         fmt::format("; outputs differ from those of the graph by {:.2g} of the largest element",
                     most->relative_error);
}

struct HowToRun {
  uint64_t seed = 0;
  GraphRunOptions options;
  MpiBackend* mpi = nullptr;
  bool is_checked_in_f64 = false;
};

Result<GraphRunReport> run_on_mpi(const GraphTask& task, const GraphValues& values,
                                  const HowToRun& how) {
  MpiBackend& mpi = *how.mpi;
  RunDescription description;
  description.add("the seed", std::to_string(how.seed));
  if (Status status = describe_graph(task, description); !status.ok()) return status;
  if (!mpi.has_started()) {
    if (Status status = mpi.start(task.mesh()); !status.ok()) return status;
  }
  Status status = mpi.world().load(std::move(description), mesh_dims_of(task));
  if (!status.ok()) return status;
  return run_graph_on_mpi(task, values.whole, values.locals, how.options, mpi.world());
}

Result<RanGraph> run_once(const ResolvedGraph& resolved, const Solution& solution,
                          const HowToRun& how) {
  Result<GraphTask> task = make_graph_task(resolved, solution);
  if (!task.ok()) return task.status();
  const Result<GraphValues> values = draw_graph_values(resolved, solution, how.seed);
  if (!values.ok()) return values.status();
  Result<GraphRunReport> report =
      how.mpi == nullptr ? run_graph_on_sim(*task, values->whole, values->locals, how.options)
                         : run_on_mpi(*task, *values, how);
  if (!report.ok()) return report.status();
  return RanGraph{*std::move(task), *std::move(report)};
}

struct Told {
  const GraphRunFlags& flags;
  const RunSettings& settings;
  const RanGraph& ran;
  const RanGraph* wide = nullptr;
  bool writes_trace = true;  // one rank does
};

std::string told_text(const Told& told) {
  const GraphTask& task = told.ran.task;
  const GraphRunReport& report = told.ran.report;
  int64_t collectives = 0;
  for (const ValueMove& move : task.solution->moves) collectives += move.plan->collective_count;
  std::string text = fmt::format(
      "{} on {}, {} ranks on {}: {} nodes, {} moves with {} collectives: {}\n", task.graph().name,
      task.mesh().format(), task.mesh().rank_count(), told.settings.backend, report.verdict.nodes,
      report.verdict.moves, collectives, verdict_text(report));
  if (told.wide != nullptr) text += "in f64: " + verdict_text(told.wide->report) + "\n";
  text += fmt::format("a rank holds {} bytes at most\n", report.peak_bytes);
  if (told.settings.report) text += predicted_text(report.traces);
  if (told.settings.memory_log) text += memory_text(report.memories);
  return text;
}

Json told_json(const Told& told) {
  const GraphTask& task = told.ran.task;
  const GraphRunReport& report = told.ran.report;
  Json json{{"graph", task.graph().name},
            {"mesh", task.mesh().format()},
            {"backend", told.settings.backend}};
  json.update(report_json(task, report));
  if (told.wide != nullptr) {
    json["f64"] = report_json(told.wide->task, told.wide->report);
    json["equal"] = report.is_equal && told.wide->report.is_equal;
  }
  json["collectives"] = collectives_json(report.traces, "move");
  json["peak_bytes"] = report.peak_bytes;
  json["seconds"] = report.us / 1e6;
  if (told.settings.memory_log) json["memory"] = memory_json(report.memories);
  return json;
}

Result<ExitCode> tell(Session& session, const Told& told) {
  const GraphRunReport& report = told.ran.report;
  if (!told.settings.trace.empty() && told.writes_trace) {
    Status status =
        write_trace(told.settings.trace, told.ran.task.mesh(), report.traces, report.memories);
    if (!status.ok()) return status;
  }
  if (session.flags.json)
    session.write_json(told_json(told));
  else
    session.write(told_text(told));
  const bool is_equal = report.is_equal && (told.wide == nullptr || told.wide->report.is_equal);
  return is_equal ? ExitCode::kFine : ExitCode::kFindings;
}

struct WideGraph {
  Graph graph;
  ResolvedGraph resolved;  // of `graph`, which must not move
};

// The same solution with all floats as f64.
Result<RanGraph> run_in_f64(const Graph& graph, const Solution& solution, HowToRun how,
                            WideGraph& wide) {
  Result<Graph> widened = widen_graph(graph, *wide.resolved.registry);
  if (!widened.ok()) return widened.status();
  wide.graph = *std::move(widened);
  Result<ResolvedGraph> resolved = resolve_graph(wide.graph, *wide.resolved.registry, how.seed);
  if (!resolved.ok()) return resolved.status();
  wide.resolved = *std::move(resolved);
  how.options.most_error = kMostErrorInF64;
  return run_once(wide.resolved, solution, how);
}

Result<ExitCode> run_solved(Session& session, const GraphRunFlags& flags,
                            const RunSettings& settings, const ResolvedGraph& resolved,
                            const Solution& solution, const HowToRun& how) {
  const Result<RanGraph> ran = run_once(resolved, solution, how);
  // A step that cannot be done is the file's fault, where the plan is not our own.
  if (absl::IsInternal(ran.status()) && !flags.plan.empty()) {
    if (how.mpi != nullptr) {
      how.mpi->set_failure_code(ExitCode::kFindings);
      return ran.status();
    }
    session.refuse(message_of(ran.status()));
    return ExitCode::kFindings;
  }
  if (!ran.ok()) return ran.status();
  const bool is_first = how.mpi == nullptr || how.mpi->is_first();
  if (!how.is_checked_in_f64) return tell(session, {flags, settings, *ran, nullptr, is_first});
  WideGraph wide;
  wide.resolved.registry = resolved.registry;
  const Result<RanGraph> in_f64 = run_in_f64(*resolved.graph, solution, how, wide);
  if (!in_f64.ok()) return annotate(in_f64.status(), "--check-dtype f64");
  return tell(session, {flags, settings, *ran, &*in_f64, is_first});
}

}  // namespace

Result<ExitCode> run_graph(Session& session, const GraphRunFlags& flags,
                           const PlanningFlags& planning, const RunSettings& settings,
                           const GraphBackend& backend) {
  const Result<uint64_t> seed = parse_whole("--seed", settings.seed, 0, UINT64_MAX);
  if (!seed.ok()) return seed.status();
  const Result<bool> is_checked = flags.is_checked_in_f64();
  if (!is_checked.ok()) return is_checked.status();
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<Graph> graph = flags.source.open(*registry);
  if (!graph.ok()) return graph.status();
  const Result<ResolvedGraph> resolved = resolve_graph(*graph, **registry, *seed);
  if (!resolved.ok()) return annotate(resolved.status(), flags.source.name);
  const bool is_first = backend.mpi == nullptr || backend.mpi->is_first();
  const Result<ReadSolution> solved = flags.solve(*resolved, planning, is_first);
  if (absl::IsFailedPrecondition(solved.status())) {
    session.refuse(message_of(solved.status()));
    return ExitCode::kFindings;
  }
  if (!solved.ok()) return solved.status();
  const Mesh& mesh = solved->solution.mesh;
  if (mesh.rank_count() > kMostRanks) {
    return invalid_argument("{} has {} ranks, {} runs at most {}", mesh.format(), mesh.rank_count(),
                            settings.backend, kMostRanks);
  }
  PlanningFlags prices = planning;
  prices.cluster = solved->prices.cluster;
  prices.cost_model = solved->prices.cost_model;
  const Result<Roofline> roofline = prices.make_roofline();
  if (!roofline.ok()) return roofline.status();
  GraphRunOptions options;
  options.sim = backend.sim;
  options.roofline = &*roofline;
  return run_solved(session, flags, settings, *resolved, solved->solution,
                    {*seed, options, backend.mpi, *is_checked});
}

}  // namespace onedim
