#pragma once
// Partition: exact split and join of tensors over a mesh, derived from the index map. `split` is
// the chain of local steps from R: shards take their slice; for P(sum|product) coordinate 0 keeps
// the value and others take the identity (-0.0 for float sums); for P(avg|max|min) all keep it.
// `join` is the value a layout stands for.

#include <vector>

#include "core/layout/index_map.hpp"
#include "core/layout/reduce.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

// The elements that `map` owns, row-major in new storage.
Tensor gather_elements(const Tensor& global, const IndexMap& map);
// Writes `local` to where `map` says it lies in `global`.
void scatter_elements(const Tensor& local, const IndexMap& map, Tensor& global);

// One local tensor per rank. Partials must be built in and legal for the dtype.
Result<std::vector<Tensor>> split(const Tensor& global, const Layout& layout, const Mesh& mesh);
// The global tensor of shape `shape`. Replicated copies are not compared; the first rank's is used.
Result<Tensor> join(std::span<const Tensor> locals, std::span<const int64_t> shape,
                    const Layout& layout, const Mesh& mesh);

}  // namespace onedim
