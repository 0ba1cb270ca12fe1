// The products: each group's run of the ragged dim is a matrix product of its own. What no group
// covers, and what another rank's experts compute, is zero.
//
//   self [3,2], mat2 [2,2,1], offs (1,3): out [3,1] = row 0 times expert 0, rows 1 and 2 times
//   expert 1

#include "problem.hpp"

namespace grouped_mm {
namespace {

template <typename C>
C* load_into(const TensorView& tensor, C* to) {
  for_each_row(tensor, [&](int64_t offset, int64_t count, int64_t stride) {
    const std::byte* from = tensor.data_as<const std::byte>() + offset * size_of(tensor.dtype());
    load_row(tensor.dtype(), from, stride, count, to);
    to += count;
  });
  return to;
}

// A block of a dense row-major matrix.
template <typename C>
struct Block {
  C* data;
  int64_t stride;
};

// out += a b for blocks of m x k and k x n; `is_first` overwrites.
template <typename C>
void multiply(Block<const C> a, Block<const C> b, Block<C> out, int64_t m, int64_t n, int64_t k,
              bool is_first) {
  for (int64_t i = 0; i < m; ++i) {
    C* __restrict to = out.data + i * out.stride;
    if (is_first) std::fill(to, to + n, C(0));
    for (int64_t p = 0; p < k; ++p) {
      const C factor = a.data[i * a.stride + p];
      const C* __restrict from = b.data + p * b.stride;
      for (int64_t j = 0; j < n; ++j) to[j] += factor * from[j];
    }
  }
}

template <typename C>
void run(const Call& call, const Problem& problem, C* workspace) {
  const int64_t m = problem.size('m'), n = problem.size('n'), k = problem.size('k');
  const C* self = workspace;
  C* next = load_into(problem.self, workspace);
  const C* mat2 = next;
  C* out = load_into(problem.mat2, next);
  std::fill(out, out + call.output().element_count(), C(0));
  const Groups groups(call, problem);
  for (int64_t g = 0; problem.ragged == 0 && g < problem.size('g'); ++g)
    multiply<C>({self + g * m * k, k}, {mat2 + g * k * n, n}, {out + g * m * n, n}, m, n, k, true);
  for (const Groups::Run& part : groups.runs) {
    const int64_t count = part.end - part.begin;
    const int64_t expert = problem.has_experts() ? groups.expert[part.group] : 0;
    // Offsets may go back; a later group then takes over, wherever its expert is.
    const int64_t terms = expert < 0 ? 0 : k, at = std::max<int64_t>(expert, 0);
    if (problem.ragged == 'm')
      multiply<C>({self + part.begin * k, k}, {mat2 + at * k * n, n}, {out + part.begin * n, n},
                  count, n, terms, true);
    else if (problem.ragged == 'n')
      multiply<C>({self + at * m * k, k}, {mat2 + part.begin, n}, {out + part.begin, n}, m, count,
                  terms, true);
    else
      multiply<C>({self + part.begin, k}, {mat2 + part.begin * n, n}, {out + part.group * m * n, n},
                  m, n, count, false);
  }
  store_dense(out, call.output());
}

}  // namespace

uint64_t workspace(const Call& call) {
  const int64_t count = call.tensor("self").element_count() + call.tensor("mat2").element_count() +
                        call.output().element_count();
  const bool is_double = call.tensor("self").dtype() == DType::kF64;
  return static_cast<uint64_t>(count) * (is_double ? sizeof(double) : sizeof(float));
}

void compute(const Call& call, const onedim_execution_t& execution) {
  const Problem problem(call);
  with_compute_type<float, double>(problem.self.dtype(), [&]<typename C>(C) {
    run(call, problem, static_cast<C*>(execution.workspace));
  });
}

}  // namespace grouped_mm
