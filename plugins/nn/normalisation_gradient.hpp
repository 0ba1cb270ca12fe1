#pragma once
// The joint partial of an input's gradient where a norm's sets (norm_sets.hpp) are cut. With
// z = (x - mean) rstd and N the size of a set, it is d - s - z p, where
//   d = rstd g w    and of each set    s = sum(d) / N,   p = sum(d z) / N
// A rank holds d and z of its own elements among zeros and its share of both sums, so that states
// merge by adding up. rms_norm, which keeps the mean, has s = 0. Statistics and weight are given.
// All of it is linear in g, yet a mesh dim over which g is P(sum) does not go with one that cuts
// the sets: the gradient would hold two kinds of partial, and a tensor holds one.
//   layer_norm, g = 1 2 | 3, z = 1 0 | -1, rstd and weight 1: (1 2 0, 1 0 0, 1, 1/3) and
//   (0 0 3, 0 0 -1, 1, -1) give (1 2 3, 1 0 -1, 2, -2/3), hence -1/3 0 1/3

#include "norm_sets.hpp"

namespace nn {

void declare_norm_gradient_kind(Registrar& r, std::string_view name,
                                std::function<Sets(const Call&)> sets_of,
                                std::function<GradientParts(const Call&)> parts_of);

}  // namespace nn
