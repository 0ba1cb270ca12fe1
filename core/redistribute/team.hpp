#pragma once
// Team: the ranks that one collective joins: those that differ from a rank only in the mesh dims it
// runs over. Its order is row-major over these mesh dims, the first outermost, so it is the order
// in which the dims cut left to right; a rank's index in it is its place.

#include <string>
#include <vector>

#include "core/cost/collective.hpp"
#include "core/layout/mesh.hpp"

namespace onedim {

struct Team {
  std::vector<int64_t> ranks;
  int64_t place = 0;  // of the rank that asked
  int64_t size() const { return static_cast<int64_t>(ranks.size()); }
};

Team team_of(const Mesh& mesh, MeshDimSet mesh_dims, int64_t rank);

// The names of the mesh dims of a set, and as text: `a,b`.
std::vector<std::string> mesh_dim_names(MeshDimSet mesh_dims, const Mesh& mesh);
std::string format_mesh_dims(MeshDimSet mesh_dims, const Mesh& mesh);

}  // namespace onedim
