#pragma once
// CutLengths: the different local lengths of one tensor dim over all ranks, cut by cut, without
// walking the ranks: all full pieces are alike, so a cut of one length leaves few lengths.
// Invariant: lengths() holds each length that some rank has, the longest first; rank 0 has the
// longest.

#include "core/base/dims.hpp"
#include "core/layout/placement.hpp"

namespace onedim {

// One mesh dim's cut of a tensor dim: `parts` ranks, split factor 1 for a plain shard.
struct Cut {
  int64_t parts = 1;
  int64_t split_factor = 1;
};

// The cut that `placement`, a shard, makes over `parts` ranks.
inline Cut cut_of(const Placement& placement, int64_t parts) {
  const bool is_strided = placement.kind == Placement::Kind::kStridedShard;
  return {parts, is_strided ? placement.split_factor : 1};
}

// What a cut did to the lengths that were there.
struct CutEffect {
  bool divides = true;        // every rank of a group keeps equally many
  bool leaves_empty = false;  // some rank keeps nothing of a length that was not 0
  bool fits = true;           // the longest piece to cut is at least as long as `parts`
};

class CutLengths {
 public:
  explicit CutLengths(int64_t length) : lengths_{length} {}
  CutEffect cut(const Cut& cut);
  const Dims& lengths() const { return lengths_; }
  int64_t longest() const { return lengths_.front(); }

 private:
  Dims lengths_;
};

}  // namespace onedim
