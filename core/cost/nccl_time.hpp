#pragma once
// NcclTime: what NCCL takes for one collective, straight from the tables and formulas of a cluster:
// the cheapest eligible pair of algorithm and protocol. Three ways, by group: measured rows (one
// node with NVSwitch), tuned rows (several nodes with NVSwitch), the tuner's formulas (all else).
// Nothing is repaired here: the result may fall as bytes grow.

#include "core/cost/cluster.hpp"
#include "core/cost/cluster_group.hpp"
#include "core/cost/nccl_corrections.hpp"

namespace onedim {

// `cluster` has NCCL tables; the group has 2 or more ranks.
double nccl_us(const Cluster& cluster, Collective collective, const ClusterGroup& group,
               double bytes, NcclReading reading);

}  // namespace onedim
