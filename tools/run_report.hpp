#pragma once
// Run report: what the ranks of a run did, as text and JSON, whatever they ran: collectives, every
// allocation, a trace, and predicted beside measured times. A cost model prices a cluster, not this
// machine, so a row is off by how much its ratio of measured to predicted differs from that of its
// kind in this run: `off` is that ratio of ratios, 1 where the model is right but for one factor.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/exec/trace.hpp"

namespace onedim {

// Of the spans of that category, those that are collectives.
nlohmann::ordered_json collectives_json(std::span<const RankTrace> traces,
                                        std::string_view category);
nlohmann::ordered_json memory_json(std::span<const RankMemory> memories);
std::string memory_text(std::span<const RankMemory> memories);

// All rows of a short run, of a long one those furthest off; then each kind of step in sum.
std::string predicted_text(std::span<const RankTrace> traces);

Status write_trace(const std::string& file, const Mesh& mesh, std::span<const RankTrace> traces,
                   std::span<const RankMemory> memories);

}  // namespace onedim
