#include "core/validate/explain.hpp"

#include <algorithm>

#include "core/validate/lane_text.hpp"
#include "core/validate/trial.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostElements = 4;

// `[1, 2]`; of a tensor with more elements the one `at`, or its description where that is none.
std::string values(const Tensor& tensor, int64_t at) {
  Lanes lanes;
  if (tensor.element_count() > kMostElements) {
    if (at < 0) return format_meta(tensor.meta());
    read_lanes(tensor, lanes);
    return format_lane(lanes, at);
  }
  read_lanes(tensor, lanes);
  std::string text;
  for (int64_t i = 0; i < lanes.count(); ++i) text += (i > 0 ? ", " : "") + format_lane(lanes, i);
  return "[" + text + "]";
}

// One refuted element of one output.
struct Refutation {
  Place& place;
  Trial& trial;
  const Placement& placement;
  int draw;
  int output;
  int64_t element;

  // Where the element lies in the rank's local output, or -1.
  int64_t local_index(size_t rank) const {
    if (!placement.is_shard()) return element;
    const Dims& shape = place.subject().outputs[output]->meta.shape;
    const std::vector<int32_t>& owned = place.owned(shape, placement)[rank];
    const auto found = std::find(owned.begin(), owned.end(), static_cast<int32_t>(element));
    return found == owned.end() ? -1 : found - owned.begin();
  }

  // What every rank was given and computed. Inputs of the output's shape are shown at its element.
  std::string rank_values() const {
    std::string text;
    for (size_t rank = 0; rank < trial.ranks().size(); ++rank) {
      const Tensor& result = trial.ranks()[rank]->outputs()[output];
      const int64_t at = local_index(rank);
      std::string given;
      for (const Tensor* tensor : trial.rank_inputs(draw, rank)) {
        const bool aligned = tensor != nullptr && tensor->shape() == result.shape();
        given += (given.empty() ? "" : "; ") +
                 (tensor == nullptr ? std::string("-") : values(*tensor, aligned ? at : -1));
      }
      text += fmt::format("{}rank {}: {} -> {}", rank == 0 ? "" : " | ", rank, given,
                          values(result, at));
    }
    return text + fmt::format(" | world {}", place.world());
  }

  // ` on rank 1, but is 3`, or `, but P(sum) gives 3`.
  std::string outcome(int64_t rank) const {
    std::vector<Lanes> locals(trial.ranks().size());
    for (size_t i = 0; i < locals.size(); ++i)
      read_lanes(trial.ranks()[i]->outputs()[output], locals[i]);
    if (rank >= 0) {
      const size_t at = static_cast<size_t>(rank);
      return fmt::format(" on rank {}, but is {}", rank, format_lane(locals[at], local_index(at)));
    }
    const DType dtype = place.subject().outputs[output]->meta.dtype;
    return fmt::format(", but {} gives {}", format_placement(placement),
                       format_lane(join_element(placement, dtype, locals, element), 0));
  }
};

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
  const Mismatch& mismatch = verdict.mismatch;
  const Refutation refutation{place,        trial,  rule.outputs[output],
                              verdict.draw, output, mismatch.element};
  const Dims& shape = place.subject().outputs[output]->meta.shape;
  return fmt::format("output {} at {} should be {}{}; {}", output,
                     format_dims(index_of(shape, mismatch.element)),
                     format_lane(draw.truths[output]->lanes, mismatch.element),
                     refutation.outcome(mismatch.rank), refutation.rank_values());
}

}  // namespace onedim
