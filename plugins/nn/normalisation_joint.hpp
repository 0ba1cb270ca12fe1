#pragma once
// The joint partial that a norm leaves where its sets (normalisation.hpp) are cut: a rank holds the
// elements x that it owns, and of each set their mean, spread and share. With n of a set's N
// elements, of mean m and sum of squared distances q from it, the spread is (q + eps n) / N and the
// share n / N, so that merged by Chan's formula (Chan, Golub, LeVeque 1979) the spread comes to
// variance + eps. Merged, out = (x - mean) / sqrt(spread) weight + bias. The parameters travel with
// x, since nothing else reaches the merged state; what no rank has given yet is -inf.
//   layer_norm of 1 2 | 6: (1 2 ., 1.5, 1/6, 2/3) and (. . 6, 6, 0, 1/3) give (1 2 6, 3, 14/3, 1)

#include "normalisation.hpp"

namespace nn {

// How a call's input falls into sets.
struct Sets {
  std::vector<bool> summed;             // dims of the input that a set spans
  std::vector<bool> parameter;          // dims of the input that weight and bias have
  std::vector<const char*> parameters;  // names of those that the op has, weight first
  Grouping grouping;                    // of the local elements
  Centre centre = Centre::kMean;
  double eps = 0;
};

// A kind of two outputs, (out, rstd), or of three, (out, mean, rstd).
void declare_norm_kind(Registrar& r, std::string_view name, int outputs,
                       std::function<Sets(const Call&)> sets_of);

// The shape of the input with all summed dims whole: what a norm gives out.
Shape whole_sets_shape(const Call& call, const std::vector<bool>& summed);

// For kernels, which need whole sets.
void require_whole_sets(const Call& call);

}  // namespace nn
