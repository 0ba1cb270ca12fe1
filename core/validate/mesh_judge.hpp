#pragma once
// Mesh judge: does a layout hold for what the ranks of a mesh computed? Ranks that differ only in
// the mesh dims over which the tensor is partial form a cell: their local results are joined and
// compared with the part of the truth that the cell owns, under the error model of judge.hpp, whose
// allowance grows with every value joined. So every replica is judged, every index of every shard,
// and every partial over one mesh dim or several.

#include <string>
#include <vector>

#include "core/layout/index_map.hpp"
#include "core/validate/judge.hpp"

namespace onedim {

struct MeshCell {
  std::vector<int64_t> ranks;  // in rank order
  std::vector<int32_t> owned;  // linear indices in the global tensor, in local order
  Dims shape;                  // local
};

class MeshJudge {
 public:
  // One placement per mesh dim, which fits the shape; at most 2^31 elements.
  MeshJudge(const Layout& layout, const Dims& shape, const Mesh& mesh);

  const std::vector<MeshCell>& cells() const { return cells_; }
  // `locals` has one entry a rank, of the layout's local shapes. Built-in partials only.
  Judgement judge(const Truth& truth, std::span<const Lanes> locals, const ErrorModel& model);
  // Of the last judgement that failed: what should be where, and what the ranks hold.
  std::string explain(const Truth& truth, std::span<const Lanes> locals) const;

 private:
  Judgement judge_copies(const Truth& truth, std::span<const Lanes> locals,
                         const ErrorModel& model);
  Judgement judge_cell(size_t cell, const Truth& truth, std::span<const Lanes> locals,
                       const ErrorModel& model);

  Layout layout_;
  Dims shape_;
  Mesh mesh_;
  Placement joins_ = Placement::replicate();  // R: the cells are single ranks
  int64_t divisor_ = 1;                       // of sums over some mesh dims and means over others
  std::vector<MeshCell> cells_;
  std::vector<std::vector<int32_t>> owned_;  // per rank, where nothing is joined
  size_t failed_cell_ = 0;
  int64_t failed_element_ = -1;  // local
};

// The part of a truth that a cell owns.
Truth part_of(const Truth& truth, std::span<const int32_t> owned);

}  // namespace onedim
