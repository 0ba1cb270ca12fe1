#pragma once
// CurveModel: prices every collective on every set of mesh dims by a curve, tabulated when the
// model is made: 5 curves for each of up to 255 sets, fewer where mesh dims are alike. A source
// gives the raw curves; they are repaired downwards only, each time to what another way of doing
// the same work costs, so that a repaired price can be had:
//   - a message costs no more than a larger one (pad it): nondecreasing;
//   - a set of mesh dims costs no more than any two sets that make it up, one after the other:
//     all-gather, reduce-scatter (both orders, on the bytes that each step sees), all-reduce,
//     all-to-all, broadcast;
//   - all-reduce costs no more than reduce-scatter and then all-gather;
//   - all-to-all of local bytes b costs no more than all-gather of n b, then a free slice.

#include "core/cost/cost_model.hpp"
#include "core/cost/curve_source.hpp"

namespace onedim {

std::unique_ptr<const CostModel> make_curve_model(const Cluster& cluster, const Mesh& mesh,
                                                  CurveSource source, uint64_t fingerprint);

}  // namespace onedim
