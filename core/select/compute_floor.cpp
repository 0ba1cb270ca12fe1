#include "core/select/compute_floor.hpp"

#include <algorithm>
#include <set>

#include "core/redistribute/step_price.hpp"

namespace onedim {
namespace {

// States whose floor is looked for; all others have none.
constexpr size_t kMostStates = 1 << 16;

int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// Of rank 0: the first piece of each chunk, of which the last may be shorter.
int64_t longest_piece(int64_t length, int64_t parts, int64_t split_factor) {
  const int64_t chunk = divide_up(length, split_factor);
  if (chunk == 0) return 0;
  return length / chunk * divide_up(chunk, parts) + divide_up(length % chunk, parts);
}

}  // namespace

ComputeFloor::ComputeFloor(const SelectSubject& subject, const RuleChoices& choices,
                           ComputeTime& time)
    : mesh_(subject.mesh), time_(time) {
  std::set<std::vector<DimCut>> different;
  for (const RuleChoice& choice : choices.rules()) {
    std::vector<DimCut> cuts;
    size_t first_dim = 0;
    const auto add = [&](const Placement& placement, const TensorMeta& meta) {
      if (placement.is_shard())
        cuts.push_back(
            {first_dim + static_cast<size_t>(placement.dim), cut_of(placement, 1).split_factor});
      first_dim += meta.shape.size();
    };
    for (size_t slot = 0; slot < subject.call.inputs.size(); ++slot) {
      if (subject.call.inputs[slot]) add(choice.rule.inputs[slot], *subject.call.inputs[slot]);
    }
    for (size_t slot = 0; slot < subject.outputs.size(); ++slot) {
      if (subject.outputs[slot]) add(choice.rule.outputs[slot], subject.outputs[slot]->meta);
    }
    different.insert(std::move(cuts));
  }
  cuts_.assign(different.begin(), different.end());
}

int64_t ComputeFloor::ps(std::span<const int> left, const StrategyState& state) {
  Lengths lengths;
  for (const CutLengths& of_dim : state.lengths()) lengths.push_back(of_dim.longest());
  return least(left, lengths);
}

int64_t ComputeFloor::least(std::span<const int> left, const Lengths& lengths) {
  Lengths key;
  key.push_back(0);
  for (const int mesh_dim : left) key[0] = key[0] << 4 | (mesh_dim + 1);
  key.insert(key.end(), lengths.begin(), lengths.end());
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (known_.size() >= kMostStates) return 0;
  const int64_t ps = left.empty() ? time_.least(lengths) : least_of_next(left, lengths);
  known_.emplace(std::move(key), ps);
  return ps;
}

int64_t ComputeFloor::least_of_next(std::span<const int> left, const Lengths& lengths) {
  int64_t ps = kImpossible;
  for (const std::vector<DimCut>& cuts : cuts_) {
    Lengths next = lengths;
    for (const DimCut& cut : cuts)
      next[cut.at] = longest_piece(next[cut.at], mesh_.size(left[0]), cut.split_factor);
    ps = std::min(ps, least(left.subspan(1), next));
  }
  return ps;
}

}  // namespace onedim
