#pragma once
// Grouped matrix products: one product for each of G groups. Which dim the groups cut follows from
// the operands' dims; offs[g] is the end of group g there, and group g begins where g - 1 ends.
//
//   self [M,K]    mat2 [G,K,N]   offs cut the rows of self       out [M,N]
//   self [G,M,K]  mat2 [K,N]     offs cut the columns of mat2    out [M,N]
//   self [M,K]    mat2 [K,N]     offs cut the summed dim         out [G,M,N]
//   self [G,M,K]  mat2 [G,K,N]   no offs, a batch of products    out [G,M,N]
//
// Offsets are global: a rank that holds some rows, columns, experts (the G of an operand) or terms
// of the sum finds their groups by global index.

#include <onedim/pack.hpp>

#include <string>

namespace grouped_mm {

using namespace onedim::api;

struct Problem {
  explicit Problem(const Call& call);

  TensorView self, mat2, offs;
  std::string self_letters, mat2_letters, out_letters;  // of m, k, n, g
  char ragged = 0;                                      // the letter that the offsets cut; 0: none

  // An operand has the groups as a dim of its own.
  bool has_experts() const { return ragged == 'm' || ragged == 'n'; }
  int64_t size(char letter) const;
  Shape out_shape() const;

 private:
  void check() const;
  const Call* call_;
};

// ATen's condition on both operands: row- or column-major, the leading stride a multiple of 16
// bytes.
void require_aligned(const Problem& problem);

// What a local call holds of the groups.
struct Groups {
  Groups(const Call& call, const Problem& problem);

  struct Run {  // local indices [begin, end) of the ragged dim that belong to one group
    int64_t group, begin, end;
  };
  std::vector<Run> runs;
  std::vector<int64_t> expert;  // local index of each group's expert; -1: on another rank
};

void compute(const Call& call, const onedim_execution_t& execution);
uint64_t workspace(const Call& call);

}  // namespace grouped_mm
