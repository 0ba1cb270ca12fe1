#include "core/cost/calibration.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/cost/curve_source.hpp"
#include "core/cost/make_cost_model.hpp"

namespace onedim {
namespace {

auto key_of(const Measurement& measurement) {
  return std::tuple(measurement.collective, measurement.group.nodes,
                    measurement.group.ranks_per_node, measurement.bytes);
}

// Steps and bytes a us of the alpha-beta formula, from two clusters of unit links.
struct LinkTerms {
  double steps = 0;
  double kilobytes = 0;
};
LinkTerms link_terms(const Measurement& measured) {
  Cluster unit;
  unit.intra = unit.inter = {1, 1};
  const SizeCurve curve = alpha_beta_curve(unit, measured.collective, measured.group);
  return {curve.at(0), curve.tail_slope() * static_cast<double>(measured.bytes)};
}

// Latency a and inverse bandwidth b >= 0 with the least sum of ((steps a + kb b) / us - 1)^2.
std::optional<ClusterLink> fit_link(const std::vector<Measurement>& measurements, bool one_node) {
  double ss = 0, sk = 0, kk = 0, s = 0, k = 0;
  for (const Measurement& measured : measurements) {
    if (measured.group.is_one_node() != one_node) continue;
    const LinkTerms terms = link_terms(measured);
    const double steps = terms.steps / measured.us, kilobytes = terms.kilobytes / measured.us;
    ss += steps * steps;
    sk += steps * kilobytes;
    kk += kilobytes * kilobytes;
    s += steps;
    k += kilobytes;
  }
  if (kk == 0) return std::nullopt;
  const double determinant = ss * kk - sk * sk;
  double latency = 0, inverse = k / kk;
  if (determinant > 1e-12 * ss * kk) {
    latency = (s * kk - k * sk) / determinant;
    inverse = (k * ss - s * sk) / determinant;
  }
  if (latency < 0) {
    latency = 0;
    inverse = k / kk;
  }
  // Times that do not grow with bytes bound the bandwidth from below only.
  if (inverse <= 0) {
    latency = s / ss;
    inverse = 1e-6;
  }
  return ClusterLink{1 / inverse, latency};
}

// A measured curve for each run of one collective on one group.
void replace_curves(Cluster& cluster, const std::vector<Measurement>& measurements) {
  std::vector<MeasuredCurve> curves;
  for (const Measurement& measured : measurements) {
    const ClusterGroup& group = measured.group;
    if (curves.empty() || curves.back().collective != measured.collective ||
        curves.back().nodes != group.nodes ||
        curves.back().ranks_per_node != group.ranks_per_node) {
      curves.push_back({measured.collective, group.nodes, group.ranks_per_node, {}, {}});
    }
    curves.back().bytes.push_back(measured.bytes);
    curves.back().us.push_back(measured.us);
  }
  std::erase_if(curves, [](const MeasuredCurve& curve) { return curve.bytes.size() < 2; });
  std::erase_if(cluster.measured, [&](const MeasuredCurve& old) {
    return std::any_of(curves.begin(), curves.end(), [&](const MeasuredCurve& curve) {
      return curve.collective == old.collective && curve.nodes == old.nodes &&
             curve.ranks_per_node == old.ranks_per_node;
    });
  });
  cluster.measured.insert(cluster.measured.end(), curves.begin(), curves.end());
}

// Prices of the default model, on a mesh of one dim over exactly the group asked for.
class ModelPrices {
 public:
  explicit ModelPrices(const Cluster& cluster) : cluster_(cluster) {}
  Result<double> us(const Measurement& measured) {
    std::unique_ptr<const CostModel>& model =
        models_[{measured.group.nodes, measured.group.ranks_per_node}];
    if (model == nullptr) {
      cluster_.ranks_per_node = measured.group.ranks_per_node;
      auto made = make_cost_model(cluster_, Mesh::line(measured.group.ranks));
      if (!made.ok()) return made.status();
      model = *std::move(made);
    }
    return model->collective_us(measured.collective, 1, measured.bytes);
  }

 private:
  Cluster cluster_;
  std::map<std::pair<int64_t, int64_t>, std::unique_ptr<const CostModel>> models_;
};

}  // namespace

std::vector<Measurement> merged(std::vector<Measurement> measurements) {
  std::sort(measurements.begin(), measurements.end(),
            [](const Measurement& a, const Measurement& b) {
              return std::tuple(key_of(a), a.us) < std::tuple(key_of(b), b.us);
            });
  std::vector<Measurement> single;
  for (size_t begin = 0; begin < measurements.size();) {
    size_t end = begin;
    while (end < measurements.size() && key_of(measurements[end]) == key_of(measurements[begin])) {
      ++end;
    }
    single.push_back(measurements[begin + (end - begin - 1) / 2]);
    begin = end;
  }
  return single;
}

Result<Calibration> calibrate(const Cluster& base, std::vector<Measurement> measurements) {
  if (measurements.empty()) return invalid_argument("there are no measurements to fit");
  Calibration result{base, {}, {}};
  measurements = merged(std::move(measurements));
  Cluster& cluster = result.cluster;
  cluster.collective_launch_us = 0;
  for (const bool one_node : {true, false}) {
    const std::optional<ClusterLink> link = fit_link(measurements, one_node);
    if (link) (one_node ? cluster.intra : cluster.inter) = *link;
  }
  replace_curves(cluster, measurements);
  ModelPrices prices(cluster);
  for (const Measurement& measured : measurements) {
    const Result<double> price = prices.us(measured);
    if (!price.ok()) return price.status();
    const SizeCurve link = alpha_beta_curve(cluster, measured.collective, measured.group);
    result.rows.push_back({measured, link.at(static_cast<double>(measured.bytes)), *price});
  }
  result.breaks = property_breaks(measurements);
  return result;
}

}  // namespace onedim
