#pragma once
// Normalisation: elements fall into sets that are made to mean 0 and variance 1, then scaled and
// shifted by parameters:
//   y = (x - mean[set]) rstd[set] w[parameter] + b[parameter],   rstd = 1 / sqrt(variance + eps)
// The norms differ only in the sets and in what a parameter stands for. On [N,C,S] tensors, element
// i in row-major order:
//   layer  set i / (normalised size), parameter i % (normalised size)
//   group  set i / (S C/G), parameter i / S % C        batch  set and parameter i / S % C
// rms_norm keeps the mean: y = x rstd w with rstd = 1 / sqrt(mean x^2 + eps).
// Gradient, with z = (x - mean) rstd and n the size of a set:
//   dx = rstd (g w - sum(g w) / n - z sum(g w z) / n),   dw = sum g z,   db = sum g
// where given statistics (batch_norm in evaluation) leave dx = rstd g w.

#include "families.hpp"
#include "laws.hpp"

namespace nn {

// Element i -> i / step % count, or what a table says, where a set is cut.
struct Index {
  int64_t step = 1;
  int64_t count = 1;
  std::vector<int64_t> table = {};
  size_t operator()(size_t i) const {
    if (!table.empty()) return static_cast<size_t>(table[i]);
    return i / static_cast<size_t>(step) % static_cast<size_t>(count);
  }
};

struct Grouping {
  Index set;
  Index parameter;
};

enum class Centre { kMean, kZero };
enum class From { kOwnElements, kGiven };  // where the statistics came from

struct Statistics {
  std::vector<double> mean;
  std::vector<double> variance;  // biased; the mean square where the mean is kept

  std::vector<double> rstd(double eps) const;
};
Statistics statistics_of(const std::vector<double>& x, const Index& set, Centre centre);

// Turns x into y; empty weight and bias stand for 1 and 0.
void normalise(std::vector<double>& x, const Grouping& grouping, const std::vector<double>& mean,
               const std::vector<double>& rstd, const std::vector<double>& weight,
               const std::vector<double>& bias);

// What a gradient is made of. The weight is that of the local elements, empty for 1.
struct GradientParts {
  std::vector<double> grad, x, mean, rstd, weight;
  Grouping grouping;
  Centre centre = Centre::kMean;
};
struct NormGradient {
  std::vector<double> input, weight, bias;
};
// The input's needs whole sets if the statistics are of its own elements.
NormGradient differentiate(const GradientParts& parts, From from);

// The values of an optional argument, empty if it is absent.
inline std::vector<double> load_optional(const Call& call, std::string_view name) {
  return call.has_tensor(name) ? load(call.tensor(name)) : std::vector<double>();
}

// Stores what the call wants of a gradient: outputs 0, 1, 2. In the place of a joint partial stand
// NaNs, since its value is in the state.
void store_gradient(const Call& call, const NormGradient& gradient);

// Statistics are kept in the input's dtype, in f32 where a half input meets f32 parameters; any
// other mixture is refused.
DType statistics_dtype(const Call& call, std::initializer_list<std::string_view> parameters);

// y of `weight` and `bias`, the statistics being fixed.
Families affine_families(const Call& call);

}  // namespace nn
