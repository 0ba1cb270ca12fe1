#include "core/validate/explain.hpp"

#include "core/validate/trial.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostElements = 4;

std::string number(const Lanes& lanes, int64_t index) {
  if (lanes.lane_class == LaneClass::kInteger) return fmt::format("{}", lanes.integers[index]);
  if (lanes.lane_class == LaneClass::kReal) return fmt::format("{:.6g}", lanes.reals[index]);
  return fmt::format("{:.6g}{:+.6g}j", lanes.reals[2 * index], lanes.reals[2 * index + 1]);
}

// `1, 2`, or its description where it is too long.
std::string values(const Tensor& tensor) {
  if (tensor.element_count() > kMostElements) return format_meta(tensor.meta());
  Lanes lanes;
  read_lanes(tensor, lanes);
  std::string text;
  for (int64_t i = 0; i < lanes.count(); ++i) text += (i > 0 ? ", " : "") + number(lanes, i);
  return "[" + text + "]";
}

std::string element_name(const Dims& shape, int64_t linear) {
  Dims index(shape.size(), 0);
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = linear % shape[dim];
    linear /= shape[dim];
  }
  return format_dims(index);
}

// What every rank was given and computed.
std::string rank_values(Place& place, Trial& trial, int draw, int output) {
  std::string text;
  for (size_t rank = 0; rank < trial.ranks().size(); ++rank) {
    std::string given;
    for (const Tensor* tensor : trial.rank_inputs(draw, rank)) {
      given +=
          (given.empty() ? "" : "; ") + (tensor == nullptr ? std::string("-") : values(*tensor));
    }
    text += fmt::format("{}rank {}: {} -> {}", rank == 0 ? "" : " | ", rank, given,
                        values(trial.ranks()[rank]->outputs()[output]));
  }
  return text + fmt::format(" | world {}", place.world());
}

std::string shape_difference(Place& place, Trial& trial, const Rule& rule, int output) {
  std::string shapes;
  for (const auto& rank : trial.ranks()) {
    const OptionalOutput& local = rank->local().outputs[output];
    shapes += (shapes.empty() ? "" : ", ") + (local ? format_meta(local->meta) : std::string("-"));
  }
  const OptionalOutput& global = place.subject().outputs[output];
  return fmt::format("world {}: the ranks' outputs are {}, which are not {} of {}", place.world(),
                     shapes, format_placement(rule.outputs[output]),
                     global ? format_meta(global->meta) : "-");
}

}  // namespace

std::string explain_refutation(Place& place, const Rule& rule, int output, int draws) {
  Trial trial(place, {rule.inputs, rule.outputs, rule.tag});
  std::vector<std::vector<Placement>> candidates;
  std::vector<PlacementSet> wanted(rule.outputs.size(), 0);
  for (const Placement& placement : rule.outputs) candidates.push_back({placement});
  wanted[output] = 1;
  const TrialVerdict verdict = trial.run(candidates, wanted, draws, false);
  if (verdict.draw < 0) return shape_difference(place, trial, rule, output);
  const Draw& draw = place.draw(verdict.draw);
  const TensorMeta& meta = place.subject().outputs[output]->meta;
  return fmt::format(
      "output {} at {} should be {}{}; {}", output,
      element_name(meta.shape, verdict.mismatch.element),
      number(draw.truths[output]->lanes, verdict.mismatch.element),
      verdict.mismatch.rank >= 0 ? fmt::format(" on rank {}", verdict.mismatch.rank) : "",
      rank_values(place, trial, verdict.draw, output));
}

}  // namespace onedim
