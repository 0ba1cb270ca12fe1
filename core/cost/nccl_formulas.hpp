#pragma once
// NcclFormulas: NCCL's tuner for groups without a row: ring, tree and NVLS-tree times from link
// bandwidths, channels and hop latencies. Constants: reference figures of NCCL 2.27's
// src/graph/tuning.cc (base, hop and network latencies in us by protocol).

#include "core/cost/cluster.hpp"
#include "core/cost/cluster_group.hpp"
#include "core/cost/nccl_corrections.hpp"

namespace onedim {

// One network step of the tree; each doubling of nodes adds two.
double tree_network_hop_us(NcclProtocol protocol);

// Ring all-gather or reduce-scatter (`reduces` false) or all-reduce, the cheapest protocol.
double ring_formula_us(const Cluster& cluster, bool reduces, const ClusterGroup& group,
                       double bytes, NcclReading reading);
// The cheapest of ring and, for all-reduce, tree and NVLS-tree.
double formula_us(const Cluster& cluster, bool reduces, const ClusterGroup& group, double bytes,
                  NcclReading reading);
// Ring-like: as many steps as ranks, at 0.7 of the slowest link; `bytes` are local.
double all_to_all_formula_us(const Cluster& cluster, const ClusterGroup& group, double bytes);

}  // namespace onedim
