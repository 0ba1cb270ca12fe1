// A walk through a whole dim of length L, start < step, lines up where the n ranks divide L = n c
// and the count M = n c' of rows taken: rank r begins at row r c, before which t(r) = ceil((r c -
// start) / step) rows are taken, and t(r) = r c'. For let c = step x + y with y < step: M = n x +
// ceil((n y
// - start) / step), whose last term lies in [0, n] and is a multiple of n. It is 0 only if r y <=
// start for all r, and n only if n (step - y) < step - start; then ceil((r y - start) / step) is 0,
// or r.
//   f32[8] from 1 by 2 takes rows {1,3,5,7}: over 2 ranks {1,3} of 0:4 and {5,7} of 4:8

#include "walk.hpp"

namespace shape {
namespace {

int64_t clamped(int64_t index, int64_t length) {
  return std::clamp<int64_t>(index < 0 ? index + length : index, 0, length);
}

}  // namespace

int sliced_dim(const Call& call, int ndim) {
  require(ndim > 0, "a 0-dim tensor has no dim to slice");
  return wrap_dim(call.attribute<int64_t>("dim"), ndim);
}

Walk walk_of(const Call& call, int64_t length) {
  const int64_t start = call.attribute<std::optional<int64_t>>("start").value_or(0);
  const int64_t end = call.attribute<std::optional<int64_t>>("end").value_or(length);
  Walk walk{length, clamped(start, length), clamped(end, length), call.attribute<int64_t>("step")};
  if (walk.step <= 0) fail("step is " + std::to_string(walk.step) + ", expected a positive number");
  return walk;
}

int64_t checked_index(int64_t index, int64_t length) {
  if (index < -length || index >= length) {
    fail("index " + std::to_string(index) + " is out of range for a dim of size " +
         std::to_string(length));
  }
  return index < 0 ? index + length : index;
}

void lined_up_rules(RuleSink& rules, const Movement& movement, const Walk& walk) {
  if (!walk.lines_up()) return;
  for (int dim = 0; dim < static_cast<int>(movement.shape.size()); ++dim) {
    std::vector<Placement> inputs;
    bool steps = true;
    for (const Source& source : movement.sources) {
      inputs.push_back(shard(source.dims[dim].in_dim));
      steps = steps && source.dims[dim].in_step;
    }
    const Placement output = shard(dim);
    if (!steps) rules.add(std::span(&output, 1), inputs, {ONEDIM_RULE_EVEN_ONLY, 0, {}});
  }
}

}  // namespace shape
