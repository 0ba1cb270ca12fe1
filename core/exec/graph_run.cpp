#include "core/exec/graph_run.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/exec/sim_ranks.hpp"
#include "core/exec/whole_graph.hpp"
#include "core/graph/liveness.hpp"
#include "core/layout/partition.hpp"

namespace onedim {
namespace {

using Programs = std::vector<std::unique_ptr<GraphProgram>>;

double largest(const Tensor& tensor) {
  double most = 0;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const double size = std::abs(load_complex(tensor.dtype(), tensor.element(i)));
    if (std::isfinite(size)) most = std::max(most, size);
  }
  return most;
}

void judge_distances(const GraphTask& task, double most_error, GraphRunReport& report) {
  for (const OutputDistance& distance : report.outputs) {
    if (distance.relative_error <= most_error) continue;
    if (report.is_equal) {
      report.difference = fmt::format(
          "output {}: it differs from that of the graph on whole tensors by {:.3g} of the largest "
          "element, more than {:.3g}",
          quoted_excerpt(task.graph().values[distance.value].name), distance.relative_error,
          most_error);
    }
    report.is_equal = false;
  }
}

Result<GraphFindings> findings_of(const GraphTask& task, std::span<const Tensor> whole,
                                  const Programs& programs, GraphVerdict verdict) {
  GraphFindings findings{std::move(verdict), {}};
  for (ValueId value = 0; value < task.graph().value_count(); ++value) {
    if (whole[value].data() == nullptr) continue;
    std::vector<Tensor> locals;
    for (const std::unique_ptr<GraphProgram>& program : programs)
      locals.push_back(program->output(value));
    const Result<OutputDistance> distance = output_distance(task, value, whole[value], locals);
    if (!distance.ok()) return distance.status();
    findings.outputs.push_back(*distance);
  }
  return findings;
}

}  // namespace

Result<OutputDistance> output_distance(const GraphTask& task, ValueId value, const Tensor& whole,
                                       std::span<const Tensor> locals) {
  const Result<Tensor> joined = join(locals, whole.shape(), task.output_layout(value), task.mesh());
  const std::string name = quoted_excerpt(task.graph().values[value].name);
  if (!joined.ok()) return annotate(joined.status(), "output " + name);
  const Comparison compared = compare_tensors(whole, *joined, nullptr, 0);
  OutputDistance distance{value, compared.is_bit_equal, compared.max_abs_error, compared.max_ulp,
                          0};
  const double most = largest(whole);
  if (distance.max_abs_error > 0)
    distance.relative_error = most > 0 ? distance.max_abs_error / most : HUGE_VAL;
  return distance;
}

Result<GraphRunReport> conclude(const GraphTask& task, GraphFindings findings,
                                std::optional<double> most_error) {
  if (!findings.verdict.status.ok()) return findings.verdict.status;
  GraphRunReport report;
  report.verdict = std::move(findings.verdict);
  report.outputs = std::move(findings.outputs);
  report.is_equal = report.verdict.is_equal;
  report.difference = report.verdict.difference;
  if (most_error) judge_distances(task, *most_error, report);
  return report;
}

// Replicas are one value, so ranks share them; where nodes write, each rank needs its own.
std::vector<Tensor> given_to(const GraphTask& task, size_t rank,
                             std::span<const std::vector<Tensor>> locals) {
  const bool is_copied = std::count(task.writes.begin(), task.writes.end(), true) > 0;
  std::vector<Tensor> given;
  for (const std::vector<Tensor>& value : locals) {
    if (value.empty())
      given.emplace_back();
    else
      given.push_back(is_copied ? value[rank].clone() : value[rank]);
  }
  return given;
}

Result<GraphRunReport> run_graph_on_sim(const GraphTask& task, std::span<const Tensor> whole,
                                        std::span<const std::vector<Tensor>> locals,
                                        const GraphRunOptions& options) {
  const Result<std::vector<Tensor>> expected = run_whole_graph(*task.resolved, whole);
  if (!expected.ok()) return expected.status();
  GraphJudge judge(task);
  SimRanks ranks(task.mesh(), options.sim);
  Programs programs;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    programs.push_back(std::make_unique<GraphProgram>(task, given_to(task, rank, locals),
                                                      ranks.site(rank), options.roofline, &judge));
  }
  const Result<double> us = ranks.run(programs);
  if (!us.ok()) return us.status();
  Result<GraphFindings> findings = findings_of(task, *expected, programs, judge.verdict());
  if (!findings.ok()) return findings.status();
  Result<GraphRunReport> made = conclude(task, *std::move(findings), options.most_error);
  if (!made.ok()) return made;
  GraphRunReport& report = *made;
  report.us = *us;
  for (const RankMemory& memory : ranks.memories)
    report.peak_bytes = std::max(report.peak_bytes, memory.peak_bytes());
  report.traces = std::move(ranks.traces);
  report.memories = std::move(ranks.memories);
  return made;
}

}  // namespace onedim
