#pragma once
// Rank report: what one rank of a run has to say at its end, as bytes that travel to the others.

#include "core/exec/graph_run.hpp"
#include "core/exec/op_run.hpp"

namespace onedim {

struct RankReport {
  std::vector<OutputComparison> comparisons;
  RankTrace trace;
  std::vector<MemoryEvent> memory;
  int64_t peak_bytes = 0;
  double us = 0;
  int64_t start_ns = 0;  // of the machine's steady clock, when the rank's own began
};

std::string pack_report(const RankReport& report);
// Fails where the bytes are not what pack_report makes.
Result<RankReport> unpack_report(std::string_view bytes);

// What one rank has found of the nodes, moves and outputs that it judged.
std::string pack_findings(const GraphFindings& findings);
Result<GraphFindings> unpack_findings(std::string_view bytes);

// Tensors with their strides; the values travel, gaps do not. Some may be absent, without storage.
std::string pack_tensors(std::span<const Tensor> tensors);
Result<std::vector<Tensor>> unpack_tensors(std::string_view bytes);

}  // namespace onedim
