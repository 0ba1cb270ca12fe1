#include <nlohmann/json.hpp>
#include <set>

#include "core/base/input_file.hpp"
#include "core/base/text.hpp"
#include "core/exec/mpi_run.hpp"
#include "core/exec/plan_program.hpp"
#include "core/pack/foreign_call.hpp"
#include "tools/commands/commands.hpp"
#include "tools/flag_values.hpp"
#include "tools/graph_runs.hpp"
#include "tools/mpi_backend.hpp"
#include "tools/op_names.hpp"
#include "tools/plan_list.hpp"
#include "tools/planning_flags.hpp"
#include "tools/run_report.hpp"
#include "tools/sharded_run.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostRanks = 1024;

struct RunFlags : RunSettings {
  std::string op, inputs, rules, plans, post_mortem;
  std::vector<std::string> attributes;
  PlanningFlags planning;
  GraphRunFlags graph;
  MpiFlags mpi;
};

struct Run {
  ChosenStrategy chosen;
  OpRunReport report;
};

Status check_mesh(const Mesh& mesh) {
  if (mesh.rank_count() <= kMostRanks) return {};
  return invalid_argument("--mesh: {} has {} ranks, sim runs at most {}", mesh.format(),
                          mesh.rank_count(), kMostRanks);
}

Result<ChosenStrategy> choose(const RunFlags& flags, const Op& op, const Registry& registry,
                              const PlacedCall& placed, Planner& planner) {
  Result<SelectOptions> options = flags.planning.select_options();
  if (!options.ok()) return options.status();
  if (flags.rules.empty()) return select_strategy(op, registry, placed, planner, *options);
  options->policy = Policy::kAny;  // what is given may be uneven
  return given_strategy(op, registry, placed, planner, flags.rules, plan_options(*options));
}

std::vector<std::string> layout_texts(std::span<const Layout> layouts, const Mesh& mesh) {
  std::vector<std::string> texts;
  for (const Layout& layout : layouts)
    texts.push_back(layout.placements.empty() ? "-" : format_layout(layout, mesh));
  return texts;
}

Json run_json(const RunFlags& flags, const Run& run) {
  const ShardedOp& op = run.chosen.op;
  Json rules = Json::array();
  for (const Rule& rule : run.chosen.rules) rules.push_back(format_rule(rule));
  Json json{{"op", op.op->name()},
            {"mesh", op.mesh.format()},
            {"backend", flags.backend},
            {"equal", run.report.is_equal},
            {"bit_equal", run.report.is_bit_equal},
            {"max_abs_error", run.report.max_abs_error},
            {"max_ulp", run.report.max_ulp},
            {"rules", std::move(rules)},
            {"inputs", layout_texts(op.inputs, op.mesh)},
            {"outputs", layout_texts(op.output_layouts, op.mesh)},
            {"collectives", collectives_json(run.report.traces, "move")},
            {"check_collectives", collectives_json(run.report.traces, "check")},
            {"peak_bytes", run.report.peak_bytes},
            {"seconds", run.report.us / 1e6}};
  if (!run.report.is_equal) json["difference"] = run.report.difference;
  if (flags.memory_log) json["memory"] = memory_json(run.report.memories);
  return json;
}

std::string run_text(const RunFlags& flags, const Run& run) {
  const ShardedOp& op = run.chosen.op;
  const OpRunReport& report = run.report;
  std::string text = fmt::format(
      "{} on {}, {} ranks on {}: {}\n", op.op->name(), op.mesh.format(), op.mesh.rank_count(),
      flags.backend,
      !report.is_equal      ? "not equal to the op on whole tensors"
      : report.is_bit_equal ? "bit equal to the op on whole tensors"
                            : fmt::format("equal to the op on whole tensors, but for rounding: "
                                          "error at most {:.3g}, {:.3g} ulp",
                                          report.max_abs_error, report.max_ulp));
  if (!report.is_equal) text += report.difference + "\n";
  std::vector<TextRow> rows{{"mesh dim", "rule"}};
  for (int mesh_dim = 0; mesh_dim < op.mesh.ndim(); ++mesh_dim)
    rows.push_back({op.mesh.name(mesh_dim), format_rule(run.chosen.rules[mesh_dim])});
  text += format_table(rows);
  for (const TraceSpan& span : slowest_spans(report.traces)) {
    if (span.category != "move") continue;
    text += fmt::format("{}: {}{}", span.cause, span.name,
                        span.mesh_dims.empty() ? "" : " over " + span.mesh_dims);
    if (!span.to.empty()) text += fmt::format(", {} -> {}", span.from, span.to);
    text += fmt::format(", {} bytes\n", span.bytes);
  }
  text += fmt::format("a rank holds {} bytes at most\n", report.peak_bytes);
  if (flags.report) text += predicted_text(report.traces);
  if (flags.memory_log) text += memory_text(report.memories);
  return text;
}

Result<OpRunReport> run_on_backend(const RunFlags& flags, const ShardedOp& op,
                                   const WholeResult& whole, const DrawnInputs& drawn,
                                   MpiBackend* mpi) {
  if (mpi == nullptr) {
    const Result<SimOptions> options = flags.mpi.sim_options(flags.has_threads);
    if (!options.ok()) return options.status();
    return run_sharded_op(op, whole, drawn.locals, *options);
  }
  RunDescription description;
  if (Status status = describe_op(op, description); !status.ok()) return status;
  if (Status status = mpi->start(op.mesh); !status.ok()) return status;
  if (Status status = mpi->world().load(std::move(description), mesh_dims_of(op)); !status.ok())
    return status;
  return run_sharded_op_on_mpi(op, whole, drawn.locals, mpi->world());
}

Result<Run> run_op_of(Session& session, const RunFlags& flags, MpiBackend* mpi) {
  const Result<uint64_t> seed = parse_whole("--seed", flags.seed, 0, UINT64_MAX);
  if (!seed.ok()) return seed.status();
  Result<std::shared_ptr<const CostModel>> model = flags.planning.make_model();
  if (!model.ok()) return model.status();
  const Mesh mesh = (*model)->mesh();
  if (Status status = check_mesh(mesh); !status.ok()) return status;
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<const Op*> op = find_op(**registry, flags.op);
  if (!op.ok()) return op.status();
  Result<PlacedCall> placed =
      parse_placed_call((*op)->schema, flags.inputs, flags.attributes, mesh);
  if (!placed.ok()) return placed.status();
  placed->call.seed = *seed;
  Planner planner(*std::move(model));
  const ForeignCall running(**op, "a run");
  Result<ChosenStrategy> chosen = choose(flags, **op, **registry, *placed, planner);
  if (!chosen.ok()) return chosen.status();
  const Result<DrawnInputs> drawn = draw_inputs(**op, *placed, mesh, *seed);
  if (!drawn.ok()) return drawn.status();
  const Result<WholeResult> whole = run_whole(chosen->op, drawn->whole);
  if (!whole.ok()) return whole.status();
  Result<OpRunReport> report = run_on_backend(flags, chosen->op, *whole, *drawn, mpi);
  if (!report.ok()) return report.status();
  return Run{*std::move(chosen), *std::move(report)};
}

PlanRunner runner_on_sim(SimOptions options) {
  return [options](const Plan& plan, const RunSetting& setting,
                   GroupLocals locals) -> Result<GroupLocals> {
    Result<PlanRunReport> report = run_plan_on_sim(plan, setting, locals, options);
    if (!report.ok()) return report.status();
    return std::move(report->locals);
  };
}

// After the ranks have agreed on all plans.
Result<PlanRunner> runner_on_mpi(std::span<const ListedMove> moves, Planner& planner,
                                 const PlanOptions& options, MpiBackend& mpi) {
  RunDescription description;
  std::set<MeshDimSet> mesh_dims;
  description.add("the mesh", planner.mesh().format());
  for (const ListedMove& move : moves) {
    const std::string name = fmt::format("line {}", move.line);
    Result<std::shared_ptr<const Plan>> plan = plan_listed(move, planner, options);
    if (!plan.ok()) return plan.status();
    description.add("the tensor of " + name, format_meta(move.meta));
    describe_plan(**plan, planner.mesh(), name, description);
    mesh_dims.merge(mesh_dims_of(**plan));
  }
  if (Status status = mpi.start(planner.mesh()); !status.ok()) return status;
  if (Status status = mpi.world().load(std::move(description), mesh_dims); !status.ok())
    return status;
  // Called once for each move, in order.
  return PlanRunner([&mpi, moves, next = size_t{0}](const Plan& plan, RunSetting setting,
                                                    const GroupLocals& locals) mutable {
    setting.subject = fmt::format("line {}", moves[next++].line);
    Result<GroupLocals> results = run_plan_on_mpi(plan, setting, locals, mpi.world());
    mpi.keep_failure(results.status());
    return results;
  });
}

Result<PlanRunner> make_runner(const RunFlags& flags, std::span<const ListedMove> moves,
                               Planner& planner, const PlanOptions& options, MpiBackend* mpi) {
  if (mpi != nullptr) return runner_on_mpi(moves, planner, options, *mpi);
  const Result<SimOptions> sim = flags.mpi.sim_options(flags.has_threads);
  if (!sim.ok()) return sim.status();
  return runner_on_sim(*sim);
}

Json listed_json(const ListedMove& move, const ListedOutcome& outcome) {
  Json json{{"line", move.line},
            {"move", move.text},
            {"equal", outcome.checked.ok()},
            {"collectives", outcome.plan->collective_count},
            {"bytes", outcome.plan->bytes}};
  if (!outcome.checked.ok()) json["difference"] = message_of(outcome.checked);
  return json;
}

Result<std::vector<ListedMove>> read_moves(const RunFlags& flags, const Mesh& mesh) {
  const Result<std::string> text = read_text_file(flags.plans);
  if (!text.ok()) return text.status();
  Result<std::vector<ListedMove>> moves = parse_plan_list(*text, mesh);
  if (!moves.ok()) return annotate(moves.status(), flags.plans);
  return moves;
}

Result<ExitCode> run_plans(Session& session, const RunFlags& flags, MpiBackend* mpi) {
  const Result<uint64_t> seed = parse_whole("--seed", flags.seed, 0, UINT64_MAX);
  if (!seed.ok()) return seed.status();
  Result<std::shared_ptr<const CostModel>> model = flags.planning.make_model();
  if (!model.ok()) return model.status();
  Planner planner(*std::move(model));
  const Mesh& mesh = planner.mesh();
  if (Status status = check_mesh(mesh); !status.ok()) return status;
  const Result<PlanOptions> options = flags.planning.plan_options();
  if (!options.ok()) return options.status();
  const Result<std::vector<ListedMove>> moves = read_moves(flags, mesh);
  if (!moves.ok()) return moves.status();
  const Result<PlanRunner> run = make_runner(flags, *moves, planner, *options, mpi);
  if (!run.ok()) return annotate(run.status(), flags.plans);
  Json list = Json::array();
  std::string text;
  int64_t wrong = 0;
  for (const ListedMove& move : *moves) {
    const Result<ListedOutcome> outcome = run_listed(move, planner, *options, *seed, *run);
    if (mpi != nullptr && !mpi->failure().ok()) return mpi->failure();
    if (!outcome.ok()) return annotate(outcome.status(), flags.plans);
    list.push_back(listed_json(move, *outcome));
    if (outcome->checked.ok()) continue;
    ++wrong;
    text += fmt::format("line {}: {}: {}\n", move.line, move.text, message_of(outcome->checked));
  }
  if (session.flags.json) {
    session.write_json(Json{{"mesh", mesh.format()},
                            {"backend", flags.backend},
                            {"equal", wrong == 0},
                            {"plans", std::move(list)}});
  } else {
    session.write(text + fmt::format("{} plans on {}, {} ranks on {}: {}\n", moves->size(),
                                     mesh.format(), mesh.rank_count(), flags.backend,
                                     wrong == 0 ? "every rank holds what the index map gives it"
                                                : fmt::format("{} are not right", wrong)));
  }
  return wrong == 0 ? ExitCode::kFine : ExitCode::kFindings;
}

Result<ExitCode> run_one_op(Session& session, const RunFlags& flags, MpiBackend* mpi) {
  const Result<Run> run = run_op_of(session, flags, mpi);
  const bool is_running = mpi != nullptr && mpi->has_started();
  // No strategy is valid: a finding, as in select.
  if (absl::IsFailedPrecondition(run.status()) && !is_running) {
    session.refuse(message_of(run.status()));
    return ExitCode::kFindings;
  }
  if (!run.ok()) return run.status();
  const bool is_first = mpi == nullptr || mpi->is_first();
  if (!flags.trace.empty() && is_first) {
    Status status =
        write_trace(flags.trace, run->chosen.op.mesh, run->report.traces, run->report.memories);
    if (!status.ok()) return status;
  }
  if (session.flags.json)
    session.write_json(run_json(flags, *run));
  else
    session.write(run_text(flags, *run));
  return run->report.is_equal ? ExitCode::kFine : ExitCode::kFindings;
}

Result<ExitCode> run_chosen(Session& session, const RunFlags& flags, MpiBackend* mpi) {
  if (flags.graph.is_given()) {
    const Result<SimOptions> sim = flags.mpi.sim_options(flags.has_threads);
    if (!sim.ok()) return sim.status();
    return run_graph(session, flags.graph, flags.planning, flags, {*sim, mpi});
  }
  if (!flags.plans.empty()) return run_plans(session, flags, mpi);
  return run_one_op(session, flags, mpi);
}

Result<ExitCode> run_post_mortem(Session& session, const RunFlags& flags) {
  const Result<std::string> text = post_mortem(flags.post_mortem);
  if (!text.ok()) return text.status();
  if (session.flags.json)
    session.write_json(Json{{"post_mortem", *text}});
  else
    session.write(*text);
  return ExitCode::kFine;
}

Result<ExitCode> run_run(Session& session, const RunFlags& flags) {
  if (!flags.post_mortem.empty()) return run_post_mortem(session, flags);
  if (flags.backend != "sim" && flags.backend != "mpi") {
    return invalid_argument("--backend: {} is not known; expected sim or mpi",
                            quoted_excerpt(flags.backend));
  }
  const int kinds = !flags.op.empty() + !flags.plans.empty() + flags.graph.is_given();
  if (kinds != 1)
    return invalid_argument("run needs one of GRAPH, --op OP with --inputs, or --plans FILE");
  if (!flags.graph.is_given() && flags.planning.mesh.empty())
    return invalid_argument("--mesh is required");
  if (flags.backend == "sim") return run_chosen(session, flags, nullptr);
  const Result<std::optional<ExitCode>> by_torchrun = run_where_torchrun_started();
  if (!by_torchrun.ok()) return by_torchrun.status();
  if (*by_torchrun) return **by_torchrun;
  Result<MpiBackend> mpi = MpiBackend::find(session, flags.mpi);
  if (!mpi.ok()) return mpi.status();
  return mpi->finish(run_chosen(session, flags, &*mpi));
}

void add_flags(CLI::App& command, RunFlags& flags) {
  command.add_option("--op", flags.op, "Op, such as mm or add.Tensor")->type_name("OP");
  command
      .add_option("--inputs", flags.inputs,
                  "Tensors with their layouts, such as 'f32[64,32]@S(0),R; f32[32,16]@R,R'; values "
                  "are drawn")
      ->type_name("TENSORS");
  command
      .add_option("--plans", flags.plans,
                  "Run the moves in a file instead, a line each: f32[10,7]: S(0),R -> R,S(1)")
      ->type_name("FILE");
  command.add_option("--attr", flags.attributes, "Attribute of the call (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--rules", flags.rules,
                  "Of an op: one rule a mesh dim, separated by `;` (default: what select chooses)")
      ->type_name("RULES");
  flags.graph.add_to(command);
  flags.planning.add_to(command);
  command.get_option("--mesh")->required(false);
  command
      .add_option("--backend", flags.backend,
                  "Where ranks run: sim, all in this process; mpi, each in one that mpirun started")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_flag("--threads", flags.has_threads, "A thread for each rank");
  command.add_option("--seed", flags.seed, "Of the values drawn")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--trace", flags.trace, "Write a Chrome trace, one track a rank")
      ->type_name("FILE");
  command.add_flag("--deterministic", flags.is_deterministic,
                   "Reduce in rank order, bit equal on all back ends; both always do");
  command.add_flag("--report", flags.report, "Show predicted beside measured times");
  command.add_flag("--memory-log", flags.memory_log,
                   "Show every allocation and release of every rank, with its cause");
  flags.mpi.add_to(command);
  command
      .add_option("--post-mortem", flags.post_mortem,
                  "Tell who was behind in a run on mpi, by its records, and run nothing")
      ->type_name("DIR");
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command = app.add_subcommand(
      "run", "Run a graph or an op sharded over ranks and compare with the whole");
  add_flags(*command, *flags);
  command->footer(
      "A graph is judged node by node and move by move on the values that the ranks hold; with\n"
      "--check-dtype f64 its outputs are judged too. Values are drawn.\n"
      "Example: onedim run --op mm --mesh a=2,b=2 --inputs 'f32[6,4]@S(0),R; f32[4,6]@R,S(1)'");
  command->callback([flags, &session] {
    session.choose([flags, &session] { return run_run(session, *flags); });
  });
}

}  // namespace onedim
