#pragma once
// AutoParallelMove: what AutoParallel takes a change of layout to cost: a fixed walk over the mesh
// dims, one step each, in order (two partials to shards on a 2-D mesh: inner dim first). No
// flattened collectives, no search, shard order and uneven shards ignored: bytes are the even
// share. A gather, exchange or scatter along a tensor dim other than 0 adds a copy of twice the
// bytes; so does the first changed mesh dim of a tensor that is not contiguous. Slices are free.

#include "core/cost/cost_model.hpp"
#include "core/layout/layout.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

// `meta` is the global tensor with its producer's strides; both layouts are of the model's mesh.
// Infinite where AutoParallel has no step: to a partial, strided shards, partials other than sum.
double autoparallel_move_us(const CostModel& model, const TensorMeta& meta, const Layout& from,
                            const Layout& to);

}  // namespace onedim
