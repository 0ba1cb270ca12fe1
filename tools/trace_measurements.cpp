#include "tools/trace_measurements.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/layout/placement.hpp"
#include "core/redistribute/team.hpp"

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

// One rank's part in a collective.
struct Span {
  Collective collective = Collective::kAllGather;
  MeshDimSet mesh_dims = 0;
  int64_t received = 0;  // bytes
  double us = 0;
};

MeshDimSet dims_of(std::string_view names, const Mesh& mesh) {
  MeshDimSet dims = 0;
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (fmt::format(",{},", names).find(fmt::format(",{},", mesh.name(d))) != std::string::npos)
      dims |= MeshDimSet{1} << d;
  }
  return dims;
}

// A partial of a pack is not reduced by the collective that its step is named after.
bool is_of_pack(std::string_view layout) {
  for (size_t at = layout.find("P("); at != layout.npos; at = layout.find("P(", at + 2)) {
    const std::string_view kind = layout.substr(at + 2, layout.find(')', at) - at - 2);
    if (!is_builtin_partial(kind)) return true;
  }
  return false;
}

// By rank, in the order of the run.
std::map<int64_t, std::vector<Span>> read_spans(const Json& trace, const Mesh& mesh) {
  std::map<int64_t, std::vector<Span>> ranks;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const auto collective = find_collective(event.at("name").get<std::string>());
    const Json& args = event.at("args");
    if (!collective || is_of_pack(args.at("from").get<std::string>())) continue;
    Span span{*collective, dims_of(args.at("mesh_dims").get<std::string>(), mesh),
              args.at("bytes").get<int64_t>(), event.at("dur").get<double>()};
    if (span.mesh_dims != 0) ranks[event.at("pid").get<int64_t>()].push_back(span);
  }
  return ranks;
}

// As collective.hpp counts, of what a rank receives.
int64_t priced_bytes(const Span& span, int64_t ranks) {
  const int64_t share = span.received / (ranks - 1);
  const int64_t whole = share * ranks + span.received % (ranks - 1);
  return span.collective == Collective::kAllReduce ? whole / 2 : whole;
}

struct ByKey {
  Collective collective = Collective::kAllGather;
  int64_t nodes = 0, ranks_per_node = 0, ranks = 0, bytes = 0;
  auto operator<=>(const ByKey&) const = default;
};

Result<std::vector<Measurement>> measure(const Json& trace, const Mesh& mesh,
                                         const MeasurementFile& file, int64_t node_capacity) {
  const std::map<int64_t, std::vector<Span>> ranks = read_spans(trace, mesh);
  if (ranks.empty()) return file.fault(1, "the trace has no collective");
  const auto all_ranks = static_cast<size_t>(mesh.rank_count());
  const bool is_whole = ranks.size() == all_ranks && ranks.begin()->first == 0 &&
                        ranks.rbegin()->first + 1 == mesh.rank_count() &&
                        std::all_of(ranks.begin(), ranks.end(), [&](const auto& rank) {
                          return rank.second.size() == ranks.begin()->second.size();
                        });
  if (!is_whole) {
    return file.fault(1, "the trace does not have the same collectives on all ranks of {}",
                      mesh.format());
  }
  std::map<ByKey, std::vector<double>> times;
  for (size_t call = 0; call < ranks.begin()->second.size(); ++call) {
    std::map<int64_t, double> least;  // by the first rank of a team
    for (const auto& [rank, spans] : ranks) {
      const int64_t first = team_of(mesh, spans[call].mesh_dims, rank).ranks[0];
      const auto [known, is_new] = least.try_emplace(first, spans[call].us);
      if (!is_new) known->second = std::min(known->second, spans[call].us);
    }
    const Span& span = ranks.begin()->second[call];
    const ClusterGroup group = cluster_group(mesh, node_capacity, span.mesh_dims);
    if (group.ranks < 2) continue;
    std::vector<double>& list = times[{span.collective, group.nodes, group.ranks_per_node,
                                       group.ranks, priced_bytes(span, group.ranks)}];
    for (const auto& [first, us] : least) list.push_back(us);
  }
  std::vector<Measurement> measurements;
  for (auto& [key, list] : times) {
    const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
    std::nth_element(list.begin(), middle, list.end());
    if (*middle > 0 && key.bytes > 0)
      measurements.push_back(
          {key.collective, {key.ranks, key.nodes, key.ranks_per_node}, key.bytes, *middle});
  }
  if (measurements.empty()) return file.fault(1, "no collective of the trace moves anything");
  return measurements;
}

}  // namespace

bool is_trace(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{' && text.find("\"traceEvents\"") != text.npos;
}

Result<std::vector<Measurement>> parse_trace(std::string_view text, const std::string& file,
                                             const MeasurementOptions& options) {
  const MeasurementFile where{file};
  try {
    const Json trace = Json::parse(text);
    if (!trace.contains("otherData"))
      return where.fault(1,
                         "the trace does not tell its mesh; expected one that `run` has written");
    const Result<Mesh> mesh = Mesh::parse(trace.at("otherData").at("mesh").get<std::string>());
    if (!mesh.ok()) return annotate(mesh.status(), file);
    return measure(trace, *mesh, where, options.node_capacity);
  } catch (const nlohmann::json::exception& error) {
    return where.fault(1, "it is no trace that `run` has written: {}", error.what());
  }
}

}  // namespace onedim
