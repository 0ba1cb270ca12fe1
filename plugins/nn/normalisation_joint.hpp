#pragma once
// The joint partial that a norm leaves where its sets (norm_sets.hpp) are cut: a rank holds the
// elements x that it owns, and of each set their mean, spread and share. With n of a set's N
// elements, of mean m and sum of squared distances q from it, the spread is (q + eps n) / N and the
// share n / N, so that merged by Chan's formula (Chan, Golub, LeVeque 1979) the spread comes to
// variance + eps. Merged, out = (x - mean) / sqrt(spread) weight + bias. The parameters travel with
// x, since nothing else reaches the merged state; what no rank has given yet is -inf.
//   layer_norm of 1 2 | 6: (1 2 ., 1.5, 1/6, 2/3) and (. . 6, 6, 0, 1/3) give (1 2 6, 3, 14/3, 1)
// A set may have neighbours: group_norm's channels 0 1 | 2 3 4 5 in groups of three give the first
// rank two thirds of group 0, the second one third of it and all of group 1.

#include "norm_sets.hpp"

namespace nn {

// A kind of two outputs, (out, rstd), or of three, (out, mean, rstd).
void declare_norm_kind(Registrar& r, std::string_view name, int outputs,
                       std::function<Sets(const Call&)> sets_of);

// The local shape of an output of statistics, `own` being that of whole sets.
Shape norm_statistics_shape(const Call& call, int slot, const Shape& global, const Shape& own);

// For accept_local: the ranks of a joint partial must hold all of a result's elements together, and
// all of its parameters.
void accept_norm_cuts(const Call& call, const Sets& sets);

}  // namespace nn
