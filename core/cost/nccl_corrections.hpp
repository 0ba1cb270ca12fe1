#pragma once
// NcclCorrections: factors on NCCL's bandwidths by message size: what part of its peak a pair of
// algorithm and protocol reaches. Each is a list of values at powers of two of the bytes, read
// either as NCCL does (a step at each power: `kSteps`) or between them (`kSmooth`, linear in
// log2). `kPublished` mixes both as AutoParallel does: only the ring and NVLS-tree factors are
// smooth. Sources: NCCL's treeCorrectionFactor, and AutoParallel's fits to nccl-tests.

#include <cstdint>

#include "core/cost/nccl_tables.hpp"

namespace onedim {

enum class NcclReading { kSmooth, kPublished };

// NCCL's own, by total bytes.
double tree_correction(NcclProtocol protocol, double bytes, NcclReading reading);
// All-gather and reduce-scatter where every rank of every node takes part, by bytes a rank.
double full_node_ring_correction(double bytes_per_rank);
// Ring all-reduce over several nodes, by bytes a rank; steeper above 4 nodes.
double multi_node_ring_correction(double bytes_per_rank, int64_t nodes);
// By bytes a rank.
double nvls_tree_correction(double bytes_per_rank);
// By bytes for each peer; the gap to 1 is shared out over log2(nodes).
double all_to_all_correction(double bytes_per_peer, int64_t nodes, NcclReading reading);

}  // namespace onedim
