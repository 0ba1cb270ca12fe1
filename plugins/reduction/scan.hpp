#pragma once
// Scans along a dim: element j of the output folds the elements 0..j of a line. A rank that holds
// some of a line's elements folds those of them that stand at or before j, for every j of the whole
// line; the folds of all ranks merge to the scan, for any kind of shard.
//   cumsum(i64[4], 0) of 1 2 | 3 4, S(0) over 2 ranks: 1 3 3 3 + 0 0 3 7 = 1 3 6 10, P(sum) | S(0)

#include "lines.hpp"

namespace reduction {

// The shape of self; along the scanned dim the output may be whole where self is sharded.
inline Shape scan_shape(const Call& call) {
  Shape shape = shape_of(call.input(0));
  const int dim = line_dim(call);
  if (!shape.empty()) shape[dim] = local_output_shape(call, 0, shape)[dim];
  return shape;
}

// Global indices of the elements that a line has here.
inline std::vector<int64_t> scan_indices(const Call& call, bool is_output, int64_t length) {
  if (call.input(0).ndim() == 0) return {0};
  return global_indices(call, is_output, 0, line_dim(call), length);
}

// `step(acc, element, its global index)` along every line, for every element of the output.
template <typename Element, typename Acc, typename Step>
std::vector<Acc> scan(const Call& call, const std::vector<Element>& values, const Acc& identity,
                      Step step) {
  const Lines in(call.input(0).shape(), line_dim(call));
  const Lines out(scan_shape(call), line_dim(call));
  const std::vector<int64_t> held = scan_indices(call, false, in.length);
  const std::vector<int64_t> wanted = scan_indices(call, true, out.length);
  std::vector<Acc> results(static_cast<size_t>(out.count() * out.length), identity);
  for (int64_t line = 0; line < out.count(); ++line) {
    Acc acc = identity;
    int64_t next = 0;
    for (int64_t j = 0; j < out.length; ++j) {
      for (; next < in.length && held[next] <= wanted[j]; ++next)
        acc = step(acc, values[in.begin(line) + next * in.inner], held[next]);
      results[out.begin(line) + j * out.inner] = acc;
    }
  }
  return results;
}

// `kind` is what a sharded line leaves. From a whole line every part of the scan follows.
inline void scan_rules(const Call& call, RuleSink& rules, std::string_view kind) {
  reduction_rules(call, rules, line_mask(call), true, kind);
  if (call.input(0).ndim() == 0) return;
  const Placement whole = replicate();
  const std::vector<Placement> outputs(static_cast<size_t>(call.output_count()),
                                       any_shard(line_dim(call)));
  rules.add(outputs, std::span(&whole, 1));
}

}  // namespace reduction
