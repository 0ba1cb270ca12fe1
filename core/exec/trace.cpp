#include "core/exec/trace.hpp"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

Json span_json(int64_t rank, const TraceSpan& span) {
  return {{"name", span.name},
          {"cat", span.category},
          {"ph", "X"},
          {"ts", span.start_us},
          {"dur", span.us},
          {"pid", rank},
          {"tid", 0},
          {"args",
           {{"cause", span.cause},
            {"mesh_dims", span.mesh_dims},
            {"from", span.from},
            {"to", span.to},
            {"bytes", span.bytes},
            {"predicted_us", span.predicted_us},
            {"measured_us", span.us}}}};
}

Json name_json(const Mesh& mesh, int64_t rank) {
  return {
      {"name", "process_name"},
      {"ph", "M"},
      {"pid", rank},
      {"args", {{"name", fmt::format("rank {} {}", rank, format_dims(mesh.coordinate_of(rank)))}}}};
}

void add_memory(Json& events, int64_t rank, const RankMemory& memory) {
  for (const MemoryEvent& event : memory.events()) {
    events.push_back({{"name", "memory"},
                      {"ph", "C"},
                      {"ts", event.at_us},
                      {"pid", rank},
                      {"args", {{"live_bytes", event.live_bytes}}}});
    events.push_back({{"name", event.bytes < 0 ? "release" : "allocate"},
                      {"cat", "memory"},
                      {"ph", "i"},
                      {"s", "t"},
                      {"ts", event.at_us},
                      {"pid", rank},
                      {"tid", 0},
                      {"args", {{"bytes", event.bytes}, {"cause", event.cause}}}});
  }
}

}  // namespace

Json trace_to_json(const Mesh& mesh, std::span<const RankTrace> ranks,
                   std::span<const RankMemory* const> memories) {
  Json events = Json::array();
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto number = static_cast<int64_t>(rank);
    events.push_back(name_json(mesh, number));
    for (const TraceSpan& span : ranks[rank].spans) events.push_back(span_json(number, span));
    add_memory(events, number, *memories[rank]);
  }
  return {{"traceEvents", std::move(events)},
          {"displayTimeUnit", "ms"},
          {"otherData", {{"mesh", mesh.format()}}}};
}

std::vector<TraceSpan> slowest_spans(std::span<const RankTrace> ranks) {
  std::vector<TraceSpan> slowest;
  absl::flat_hash_map<std::string, size_t> known;
  for (const RankTrace& rank : ranks) {
    for (const TraceSpan& span : rank.spans) {
      std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", span.name, span.cause, span.from, span.to,
                                    span.mesh_dims);
      const auto [place, is_new] = known.try_emplace(std::move(key), slowest.size());
      if (is_new) {
        slowest.push_back(span);
        continue;
      }
      TraceSpan& same = slowest[place->second];
      same.us = std::max(same.us, span.us);
      same.bytes = std::max(same.bytes, span.bytes);
      same.predicted_us = std::max(same.predicted_us, span.predicted_us);
    }
  }
  return slowest;
}

}  // namespace onedim
