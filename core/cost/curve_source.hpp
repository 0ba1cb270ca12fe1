#pragma once
// CurveSource: where curve models get the price of one collective on one group, before repairs:
// the measured curve of exactly that group if the cluster has one, else the model's formula.

#include "core/cost/cluster.hpp"
#include "core/cost/cluster_group.hpp"
#include "core/cost/size_curve.hpp"

namespace onedim {

// The group has 2 or more ranks. Sources price reduce-scatter as all-gather.
using CurveSource = SizeCurve (*)(const Cluster&, Collective, const ClusterGroup&);

// Rings over the slowest link of the group, with n ranks, link latency a, bandwidth w and launch L:
// all-gather and reduce-scatter L + (n-1) a + (n-1)/n bytes/w, all-reduce twice the last two terms,
// all-to-all L + (n-1) a + (n-1)/n bytes/w of local bytes, broadcast L + ceil(log2 n) a + bytes/w.
SizeCurve alpha_beta_curve(const Cluster& cluster, Collective collective,
                           const ClusterGroup& group);

// nccl_us with smooth corrections, at four sizes an octave from 64 bytes to 64 GiB; thinned to
// 0.1 %. Smaller messages cost what 64 bytes do.
SizeCurve nccl_curve(const Cluster& cluster, Collective collective, const ClusterGroup& group);

// Straight between the points; below the first towards its latency, at least 0; beyond the last on
// at the last slope.
SizeCurve measured_curve(const MeasuredCurve& measured);
// The measured curve of that group, or null.
const MeasuredCurve* find_measured(const Cluster& cluster, Collective collective,
                                   const ClusterGroup& group);

}  // namespace onedim
