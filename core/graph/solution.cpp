#include "core/graph/solution.hpp"

#include <algorithm>

#include "core/graph/graph_write.hpp"
#include "core/pack/joint_group.hpp"

namespace onedim {

Layout settled_layout(Layout layout) {
  for (Placement& placement : layout.placements) {
    if (is_joint(placement)) placement = Placement::replicate();
  }
  return layout;
}

bool is_settling(const ValueMove& move) {
  return std::any_of(move.from.placements.begin(), move.from.placements.end(), is_joint);
}

std::vector<Layout> resting_layouts(const Graph& graph, const Solution& solution) {
  std::vector<Layout> layouts = solution.given;
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    const std::vector<ValueId>& outputs = graph.nodes[node].outputs;
    for (size_t slot = 0; slot < outputs.size(); ++slot) {
      if (outputs[slot] != kNoValue)
        layouts[outputs[slot]] = settled_layout(solution.nodes[node].outputs[slot]);
    }
  }
  return layouts;
}

uint64_t graph_hash(const Graph& graph) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : format_graph(graph))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace onedim
