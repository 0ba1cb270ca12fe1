#include "core/exec/op_run.hpp"

#include <algorithm>

#include "core/exec/sim_ranks.hpp"

namespace onedim {
namespace {

// Global index of a rank's element of an output.
Dims global_index(const ShardedOp& op, int64_t rank, int output, int64_t element) {
  const Dims& shape = op.outputs[output]->meta.shape;
  const IndexMap map =
      index_map(shape, op.output_layouts[output], op.mesh, op.mesh.coordinate_of(rank));
  const Dims local = map.local_shape();
  Dims index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = map.global_index(static_cast<int>(dim), element % local[dim]);
    element /= local[dim];
  }
  return index;
}

void add(const ShardedOp& op, int64_t rank, const OutputComparison& compared, OpRunReport& report) {
  const Comparison& one = compared.comparison;
  report.is_bit_equal &= one.is_bit_equal;
  report.max_abs_error = std::max(report.max_abs_error, one.max_abs_error);
  report.max_ulp = std::max(report.max_ulp, one.max_ulp);
  if (one.is_equal) return;
  if (report.is_equal) {
    report.difference = fmt::format(
        "output {} on {}{}: {}, under {}", compared.output, describe_rank(op.mesh, rank),
        one.element < 0
            ? ""
            : ", at " + format_dims(global_index(op, rank, compared.output, one.element)),
        one.difference, format_layout(op.output_layouts[compared.output], op.mesh));
  }
  report.is_equal = false;
}

}  // namespace

void add_comparisons(const ShardedOp& op, int64_t rank, std::span<const OutputComparison> compared,
                     OpRunReport& report) {
  for (const OutputComparison& one : compared) add(op, rank, one, report);
}

Result<OpRunReport> run_sharded_op(const ShardedOp& op, const WholeResult& whole,
                                   std::span<const std::vector<Tensor>> locals,
                                   const SimOptions& options) {
  SimRanks ranks(op.mesh, options);
  std::vector<std::unique_ptr<OpProgram>> programs;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<Tensor> mine;
    for (const std::vector<Tensor>& slot : locals)
      mine.push_back(slot.empty() ? Tensor() : slot[rank]);
    RankMemory& memory = ranks.memories[rank];
    memory.set_cause("given");
    for (size_t slot = 0; slot < mine.size(); ++slot) {
      if (op.call.inputs[slot]) memory.note(mine[slot], fmt::format("input {}", slot));
    }
    programs.push_back(std::make_unique<OpProgram>(op, whole, std::move(mine), ranks.site(rank)));
    if (Status status = programs.back()->prepare(); !status.ok()) return status;
  }
  const Result<double> us = ranks.run(programs);
  if (!us.ok()) return us.status();
  OpRunReport report;
  report.us = *us;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    add_comparisons(op, static_cast<int64_t>(rank), programs[rank]->comparisons(), report);
    report.peak_bytes = std::max(report.peak_bytes, programs[rank]->peak_bytes());
  }
  report.traces = std::move(ranks.traces);
  report.memories = std::move(ranks.memories);
  return report;
}

}  // namespace onedim
