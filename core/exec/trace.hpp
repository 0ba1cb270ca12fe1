#pragma once
// Trace: what ranks did when, as Chrome's trace event format has it (one JSON object, loaded by
// Perfetto and chrome://tracing): one track a rank, one span a step with its bytes and what it was
// predicted to take beside what it took, and a counter of the bytes that the rank holds.
// `otherData` names the mesh, for who reads it back.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/exec/rank_memory.hpp"

namespace onedim {

struct TraceSpan {
  std::string name;      // `all_gather`
  std::string category;  // move, compute or check
  double start_us = 0;   // since the start of the run
  double us = 0;         // of the rank's own time
  double predicted_us = 0;
  int64_t bytes = 0;      // that a rank receives at most; of local calls: reads and writes
  std::string cause;      // `mm, input 0`
  std::string mesh_dims;  // `a,b`
  std::string from, to;   // layouts
};

// One rank's part.
struct RankTrace {
  std::vector<TraceSpan> spans;
};

nlohmann::ordered_json trace_to_json(const Mesh& mesh, std::span<const RankTrace> ranks,
                                     std::span<const RankMemory* const> memories);

// Each span once, with what the rank had that took longest, got most or was predicted most.
std::vector<TraceSpan> slowest_spans(std::span<const RankTrace> ranks);

}  // namespace onedim
