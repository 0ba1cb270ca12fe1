#pragma once
// Resampling: linear maps that act on each spatial dim by itself, out[o] = sum_i m[o, i] in[i], one
// dim after the other: mean pooling and interpolation. A gradient applies the transposed maps.
//   halving f32[1,4] by mean: entries (0,0), (0,1), (1,2), (1,3) of weight 1, results divided by 2
// Maps are those of the global tensors; a rank applies the entries between the places it owns. So a
// cut source gives partial sums, `P(sum) | S(1)`, and each rank makes any part of the result from a
// whole source, `S(1) | R`. Where g = gcd(4, 2) pairs of blocks (2 places, 1 result) stay apart,
// whole blocks may be cut on both sides. All maps are linear; those that pick single places let
// more partials through. Channels and batch may be cut.

#include <numeric>

#include "families.hpp"
#include "laws.hpp"

namespace nn {

struct Entry {
  int64_t out, in;
  double weight;
};
// One dim's map.
struct Map {
  int64_t outs = 0, ins = 0;
  std::vector<Entry> entries;
};
Map transposed(const Map& map);

// What a call does to its source.
struct Resampling {
  std::vector<Map> maps;
  // What results, or in a gradient the places of the source, are divided by: the product over the
  // dims, or the given number. None: empty.
  std::vector<std::vector<int64_t>> divisors;
  std::optional<int64_t> divisor;
  bool divides_source = false;
  std::string_view source = "self";
  std::string_view like = {};  // an argument of the result's shape

  // The gradient with regard to the source.
  Resampling gradient(std::string_view of_source) const;
};
using ResamplingFn = std::function<Resampling(const Call&)>;

// Declares the op's shapes, rules and kernel for floats and the dtypes in `others`.
OpBuilder& declare_resampling(Registrar& r, std::string_view schema, const ResamplingFn& fn,
                              uint64_t others = 0);

}  // namespace nn
