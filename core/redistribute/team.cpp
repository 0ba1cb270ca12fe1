#include "core/redistribute/team.hpp"

#include <fmt/ranges.h>

namespace onedim {

Team team_of(const Mesh& mesh, MeshDimSet mesh_dims, int64_t rank) {
  Team team;
  Dims member = mesh.coordinate_of(rank);
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (mesh_dims >> d & 1) member[d] = 0;
  }
  while (true) {
    const int64_t other = mesh.rank_of(member);
    if (other == rank) team.place = team.size();
    team.ranks.push_back(other);
    int d = mesh.ndim();
    while (d-- > 0) {
      if ((mesh_dims >> d & 1) == 0) continue;
      if (++member[d] < mesh.size(d)) break;
      member[d] = 0;
    }
    if (d < 0) return team;
  }
}

std::vector<std::string> mesh_dim_names(MeshDimSet mesh_dims, const Mesh& mesh) {
  std::vector<std::string> names;
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (mesh_dims >> d & 1) names.push_back(mesh.name(d));
  }
  return names;
}

std::string format_mesh_dims(MeshDimSet mesh_dims, const Mesh& mesh) {
  return fmt::format("{}", fmt::join(mesh_dim_names(mesh_dims, mesh), ","));
}

}  // namespace onedim
