#pragma once
// AutoParallelModel: the cost model `autoparallel-h100`, which prices collectives as AutoParallel
// (a54c252) does, for comparison with its results: NCCL's tables read with steps where it reads
// steps, no repair, no network cards shared; its ring fallback where the ranks are not divisible
// by the ranks of a node. It is not physical everywhere: prices may fall as bytes grow, and
// all-reduce may exceed reduce-scatter and all-gather. AutoParallel knows no broadcast; it is
// priced as all-gather. Golden figures: autoparallel_model_test.

#include "core/cost/cluster.hpp"
#include "core/cost/cost_model.hpp"

namespace onedim {

// `cluster` is h100, with its NCCL tables.
std::unique_ptr<const CostModel> make_autoparallel_model(const Cluster& cluster, const Mesh& mesh,
                                                         uint64_t fingerprint);

}  // namespace onedim
