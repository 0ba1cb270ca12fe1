#pragma once
// ClusterGroup: where the ranks of one collective sit: how many there are, on how many nodes, how
// many on each. Ranks are numbered row-major over the mesh and fill nodes in that order, so mesh
// dim d with `inner` ranks below it has clamp(ranks_per_node / inner, 1, size) ranks on a node.
// Groups of several mesh dims multiply. Network cards are taken as one a rank; rings that run side
// by side do not share them.

#include <cstdint>

#include "core/cost/collective.hpp"
#include "core/layout/mesh.hpp"

namespace onedim {

struct ClusterGroup {
  int64_t ranks = 1;
  int64_t nodes = 1;
  int64_t ranks_per_node = 1;  // the most on one node; nodes * ranks_per_node >= ranks

  bool is_one_node() const { return nodes == 1; }
  bool operator==(const ClusterGroup&) const = default;
};

ClusterGroup cluster_group(const Mesh& mesh, int64_t ranks_per_node, MeshDimSet mesh_dims);

}  // namespace onedim
