#include "core/exec/mpi_graph.hpp"

#include <algorithm>

#include "core/exec/dealt_judge.hpp"
#include "core/exec/mpi_run.hpp"
#include "core/exec/whole_graph.hpp"

namespace onedim {
namespace {

// Judging in between takes ranks out of step, so a graph that fits is judged at its end.
constexpr int64_t kMostKeptBytes = int64_t{256} << 20;

std::string layouts_text(std::span<const Layout> layouts, const Mesh& mesh) {
  std::string text;
  for (const Layout& layout : layouts) {
    text += text.empty() ? "" : "; ";
    text += layout.placements.empty() ? "-" : format_layout(layout, mesh);
  }
  return text;
}

std::string node_description(const GraphTask& task, int node) {
  const ResolvedNode& resolved = task.resolved->nodes[node];
  const NodeStrategy& strategy = task.solution->nodes[node];
  const std::vector<Domain> no_domains(resolved.call.inputs.size());
  std::string text = fmt::format("{} of {} with seed {}: {} -> {}", resolved.op->name(),
                                 format_call(resolved.call, no_domains), resolved.call.seed,
                                 layouts_text(strategy.inputs, task.mesh()),
                                 layouts_text(strategy.outputs, task.mesh()));
  for (const uint64_t tag : task.tags[node]) {
    if (tag != 0) text += fmt::format(", tag {}", tag);
  }
  return text;
}

// Until the last stage. Returns how long the stages took, in us.
Result<double> run_stages(GraphProgram& program, DealtJudge& judge, const RunClock& clock) {
  double us = 0;
  for (size_t stage = 0; stage < program.stage_count(); ++stage) {
    const double begin = clock.us();
    if (Status status = program.begin(stage); !status.ok()) return status;
    if (Status status = program.end(stage); !status.ok()) return status;
    us += clock.us() - begin;
    if (judge.kept_bytes() <= kMostKeptBytes) continue;
    if (Status status = judge.judge_kept(); !status.ok()) return status;
  }
  return us;
}

}  // namespace

std::set<MeshDimSet> mesh_dims_of(const GraphTask& task) {
  std::set<MeshDimSet> dims;
  for (const ValueMove& move : task.solution->moves) dims.merge(mesh_dims_of(*move.plan));
  for (const NodeStrategy& strategy : task.solution->nodes) {
    for (const Layout& layout : strategy.outputs) {
      if (const MeshDimSet joint = joint_dims(layout)) dims.insert(joint);
    }
  }
  return dims;
}

Status describe_graph(const GraphTask& task, RunDescription& description) {
  const Graph& graph = task.graph();
  description.add("the mesh", task.mesh().format());
  description.add("the graph", fmt::format("{} of {} nodes, hash {:016x}", graph.name,
                                           graph.nodes.size(), graph_hash(graph)));
  std::set<const Op*> used;
  std::vector<Layout> outputs;
  for (const ResolvedNode& node : task.resolved->nodes) used.insert(node.op);
  for (const NodeStrategy& strategy : task.solution->nodes)
    outputs.insert(outputs.end(), strategy.outputs.begin(), strategy.outputs.end());
  const std::vector<const Op*> ops(used.begin(), used.end());
  const Registry& registry = *task.resolved->registry;
  if (Status status = describe_packs(ops, outputs, registry, description); !status.ok())
    return status;
  for (size_t value = 0; value < graph.values.size(); ++value) {
    const Layout& layout = task.solution->given[value];
    if (layout.placements.empty()) continue;
    description.add(
        "the value " + graph.values[value].name,
        format_meta(graph.values[value].meta) + " " + format_layout(layout, task.mesh()));
  }
  for (int node = 0; node < graph.node_count(); ++node)
    description.add(node_text(graph.nodes[node]), node_description(task, node));
  for (size_t move = 0; move < task.solution->moves.size(); ++move)
    describe_plan(*task.solution->moves[move].plan, task.mesh(),
                  move_cause(task, static_cast<int>(move)), description);
  return {};
}

Result<GraphRunReport> run_graph_on_mpi(const GraphTask& task, std::span<const Tensor> whole,
                                        std::span<const std::vector<Tensor>> locals,
                                        const GraphRunOptions& options, MpiWorld& world) {
  const Result<std::vector<Tensor>> expected = run_whole_graph(*task.resolved, whole);
  if (!expected.ok()) return expected.status();
  RankReport mine;
  mine.start_ns = steady_ns();
  const RunClock clock;
  RankMemory memory(clock);
  DealtJudge judge(task, *expected, world);
  GraphProgram program(task, given_to(task, static_cast<size_t>(world.rank()), locals),
                       {&world.communicator(), &memory, &mine.trace, &clock}, options.roofline,
                       &judge);
  const Result<double> us = run_stages(program, judge, clock);
  if (!us.ok()) return us.status();
  mine.us = *us;
  judge.add_outputs(program);
  if (Status status = judge.judge_kept(); !status.ok()) return status;
  Result<GraphFindings> findings = judge.collect();
  if (!findings.ok()) return findings.status();
  mine.memory = memory.events();
  mine.peak_bytes = memory.peak_bytes();
  Result<std::vector<RankReport>> ranks = gather_reports(mine, world);
  if (!ranks.ok()) return ranks.status();
  Result<GraphRunReport> report = conclude(task, *std::move(findings), options.most_error);
  if (!report.ok()) return report;
  for (RankReport& rank : *ranks) {
    report->us = std::max(report->us, rank.us);
    report->peak_bytes = std::max(report->peak_bytes, rank.peak_bytes);
    report->traces.push_back(std::move(rank.trace));
    report->memories.emplace_back(clock, std::move(rank.memory));
  }
  return report;
}

}  // namespace onedim
