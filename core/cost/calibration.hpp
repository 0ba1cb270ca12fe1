#pragma once
// Calibration: a cluster fitted to measurements. Links are fitted to the alpha-beta formulas, by
// the least squares of relative errors, with the launch left to the links' latencies; every
// measured (collective, group) with two or more sizes becomes a measured curve, which the models
// alpha-beta and nccl both price from. What the measurements do not touch stays as in the base.

#include "core/cost/cluster.hpp"
#include "core/cost/measurement.hpp"

namespace onedim {

// One size: what was measured, what the fitted links alone say, what the fitted cluster's default
// model says (measured curves after repairs). Errors are (price - measured) / measured.
struct CalibrationRow {
  Measurement measured;
  double link_us = 0;
  double model_us = 0;
  double link_error() const { return (link_us - measured.us) / measured.us; }
  double model_error() const { return (model_us - measured.us) / measured.us; }
};

// Where the measurements break a property that prices should have.
struct PropertyBreak {
  std::string property;  // monotone, all-reduce, all-to-all, more-ranks
  std::string text;      // one line
  double factor = 1;     // by how much, above 1
};

struct Calibration {
  Cluster cluster;
  std::vector<CalibrationRow> rows;  // by collective, group, bytes; equal ones are one, the median
  std::vector<PropertyBreak> breaks;
};

// `base` gives all else, the default model too. Fails without measurements.
Result<Calibration> calibrate(const Cluster& base, std::vector<Measurement> measurements);

// Sorted; of several times for one size the median (the lower of two).
std::vector<Measurement> merged(std::vector<Measurement> measurements);
// `measurements` as `merged` gives them. Sizes between are read off straight lines.
std::vector<PropertyBreak> property_breaks(const std::vector<Measurement>& measurements);

}  // namespace onedim
