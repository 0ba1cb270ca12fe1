#include "normalisation.hpp"

#include <cmath>

#include "joint_states.hpp"

namespace nn {

std::vector<double> Statistics::rstd(double eps) const {
  std::vector<double> result(variance.size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = 1 / std::sqrt(variance[i] + eps);
  return result;
}

Statistics statistics_of(const std::vector<double>& x, const Index& set, Centre centre) {
  const auto sets = static_cast<size_t>(set.count);
  Statistics result{std::vector<double>(sets, 0), std::vector<double>(sets, 0)};
  const double count = sets == 0 ? 0 : static_cast<double>(x.size() / sets);
  if (centre == Centre::kMean) {
    for (size_t i = 0; i < x.size(); ++i) result.mean[set(i)] += x[i];
    for (double& mean : result.mean) mean /= count;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const double distance = x[i] - result.mean[set(i)];
    result.variance[set(i)] += distance * distance;
  }
  for (double& variance : result.variance) variance /= count;
  return result;
}

void normalise(std::vector<double>& x, const Grouping& grouping, const std::vector<double>& mean,
               const std::vector<double>& rstd, const std::vector<double>& weight,
               const std::vector<double>& bias) {
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t set = grouping.set(i), parameter = grouping.parameter(i);
    x[i] = (x[i] - mean[set]) * rstd[set];
    if (!weight.empty()) x[i] *= weight[parameter];
    if (!bias.empty()) x[i] += bias[parameter];
  }
}

NormGradient differentiate(const GradientParts& parts, From from) {
  const auto& [grad, x, mean, rstd, weight, grouping, centre] = parts;
  const size_t sets = rstd.size();
  const auto parameters = static_cast<size_t>(grouping.parameter.count);
  NormGradient result{std::vector<double>(x.size()), {}, std::vector<double>(parameters, 0)};
  std::vector<long double> scale(parameters, 0);  // x and a given mean may be far from 0
  std::vector<double> sum(sets, 0), sum_z(sets, 0), z(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t set = grouping.set(i), parameter = grouping.parameter(i);
    z[i] = (x[i] - mean[set]) * rstd[set];
    const double scaled = weight.empty() ? grad[i] : grad[i] * weight[parameter];
    result.input[i] = scaled;
    sum[set] += scaled;
    sum_z[set] += scaled * z[i];
    const long double distance = static_cast<long double>(x[i]) - mean[set];
    scale[parameter] += grad[i] * distance * rstd[set];
    result.bias[parameter] += grad[i];
  }
  result.weight.assign(scale.begin(), scale.end());
  const double count = sets == 0 ? 0 : static_cast<double>(x.size() / sets);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t set = grouping.set(i);
    if (from == From::kOwnElements) {
      if (centre == Centre::kMean) result.input[i] -= sum[set] / count;
      result.input[i] -= z[i] * sum_z[set] / count;
    }
    result.input[i] *= rstd[set];
  }
  return result;
}

void store_gradient(const Call& call, const NormGradient& gradient) {
  const std::vector<double>* parts[] = {&gradient.input, &gradient.weight, &gradient.bias};
  for (int slot = 0; slot < call.output_count(); ++slot) {
    const TensorView out = call.output(slot);
    if (!out.present()) continue;
    const auto count = static_cast<size_t>(out.element_count());
    store(has_joint(call, slot) ? std::vector<double>(count, NAN) : *parts[slot], out);
  }
}

DType statistics_dtype(const Call& call, std::initializer_list<std::string_view> parameters) {
  const DType input = call.tensor("input").dtype();
  DType dtype = input;
  for (const std::string_view name : parameters) {
    if (!call.has_tensor(name)) continue;
    const DType own = call.tensor(name).dtype();
    if (own == input) continue;
    if (!is_half(input) || own != DType::kF32)
      fail(std::string(name) + " is " + name_of(own) + " and the input " + name_of(input) +
           ", expected one dtype, or f32 beside a half input");
    dtype = DType::kF32;
  }
  return dtype;
}

Families affine_families(const Call& call) {
  Families families;
  if (call.has_tensor("weight")) families.push_back({kLinear, {"weight", "bias"}});
  if (call.has_tensor("bias")) {
    families.push_back({kAffine, {"bias"}});
    families.push_back({kIncreasing, {"bias"}});
  }
  return families;
}

}  // namespace nn
