#include "core/exec/op_run.hpp"

#include <algorithm>

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
  SimWorld world(op.mesh, options);
  const RunClock clock;
  OpRunReport report;
  const auto ranks = static_cast<size_t>(op.mesh.rank_count());
  report.traces.resize(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) report.memories.emplace_back(clock);
  std::vector<std::unique_ptr<OpProgram>> programs;
  std::vector<RankProgram*> pointers;
  for (size_t rank = 0; rank < ranks; ++rank) {
    std::vector<Tensor> mine;
    for (const std::vector<Tensor>& slot : locals)
      mine.push_back(slot.empty() ? Tensor() : slot[rank]);
    report.memories[rank].set_cause("given");
    for (size_t slot = 0; slot < mine.size(); ++slot) {
      if (op.call.inputs[slot])
        report.memories[rank].note(mine[slot], fmt::format("input {}", slot));
    }
    const RankSite site{&world.communicator(static_cast<int64_t>(rank)), &report.memories[rank],
                        &report.traces[rank], &clock};
    programs.push_back(std::make_unique<OpProgram>(op, whole, std::move(mine), site));
    if (Status status = programs.back()->prepare(); !status.ok()) return status;
    pointers.push_back(programs.back().get());
  }
  const double begin = clock.us();
  if (Status status = run_ranks(world, pointers); !status.ok()) return status;
  report.us = clock.us() - begin;
  for (size_t rank = 0; rank < ranks; ++rank) {
    add_comparisons(op, static_cast<int64_t>(rank), programs[rank]->comparisons(), report);
    report.peak_bytes = std::max(report.peak_bytes, programs[rank]->peak_bytes());
  }
  return report;
}

}  // namespace onedim
