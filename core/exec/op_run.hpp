#pragma once
// Op run: a sharded op on all ranks of the `sim` back end, and what came of it.

#include "core/exec/op_program.hpp"

namespace onedim {

struct OpRunReport {
  bool is_equal = true;
  bool is_bit_equal = true;
  double max_abs_error = 0;
  double max_ulp = 0;
  std::string difference;         // the first, in rank order: output, rank, index and values
  int64_t peak_bytes = 0;         // of the rank that held most, inputs included, the comparison not
  double us = 0;                  // from the first stage to the last
  std::vector<RankTrace> traces;  // per rank
  std::vector<RankMemory> memories;  // per rank
};

// What a rank's comparisons say of the whole run; ranks in order.
void add_comparisons(const ShardedOp& op, int64_t rank, std::span<const OutputComparison> compared,
                     OpRunReport& report);

// `locals`: per slot one tensor a rank, empty where the slot is absent; see OpProgram.
Result<OpRunReport> run_sharded_op(const ShardedOp& op, const WholeResult& whole,
                                   std::span<const std::vector<Tensor>> locals,
                                   const SimOptions& options);

}  // namespace onedim
