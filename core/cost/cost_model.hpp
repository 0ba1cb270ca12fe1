#pragma once
// CostModel: what communication and local copies cost on one mesh of one cluster, in us. It is the
// only source of such prices: selection, the redistribution planner, the graph solver and the
// executor's predictions all ask the same object. Immutable and thread-safe; a query allocates
// nothing. Invariants of every model but the compatible one (cost_properties_test): nondecreasing
// and continuous in bytes, all-reduce <= reduce-scatter + all-gather of the same bytes, a group of
// one rank costs nothing.

#include <memory>

#include "core/cost/collective.hpp"
#include "core/layout/mesh.hpp"

namespace onedim {

class CostModel {
 public:
  virtual ~CostModel() = default;
  // One collective over the flattened group of `mesh_dims`; `bytes` >= 0 as collective.hpp counts.
  virtual double collective_us(Collective collective, MeshDimSet mesh_dims,
                               int64_t bytes) const = 0;
  // A local kernel that reads and writes `bytes` in all; 0 bytes cost nothing.
  virtual double copy_us(int64_t bytes) const = 0;
  virtual const Mesh& mesh() const = 0;
  // Differs where any price may differ; part of cache keys and plans.
  virtual uint64_t fingerprint() const = 0;
};

}  // namespace onedim
