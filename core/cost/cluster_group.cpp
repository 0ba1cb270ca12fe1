#include "core/cost/cluster_group.hpp"

#include <algorithm>

namespace onedim {

ClusterGroup cluster_group(const Mesh& mesh, int64_t ranks_per_node, MeshDimSet mesh_dims) {
  ClusterGroup group;
  int64_t inner = 1;
  for (int dim = mesh.ndim() - 1; dim >= 0; --dim) {
    const int64_t size = mesh.size(dim);
    if ((mesh_dims >> dim & 1) != 0) {
      const int64_t on_node = std::clamp(ranks_per_node / inner, int64_t{1}, size);
      group.ranks *= size;
      group.ranks_per_node *= on_node;
      group.nodes *= (size + on_node - 1) / on_node;
    }
    inner *= size;
  }
  return group;
}

}  // namespace onedim
