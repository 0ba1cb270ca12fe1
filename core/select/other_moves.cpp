#include "core/select/other_moves.hpp"

#include <algorithm>

namespace onedim {
namespace {

using Part = MoveBound::Part;
constexpr int kParts = 3;
// Which parts of the one input stand beside which of the other on one mesh dim.
using Beside = std::array<std::array<bool, kParts>, kParts>;

// A layout with a source's shard somewhere may have it in another place of the cutting order.
bool may_be(Part asked, Part part, bool is_shard) {
  return part == asked || (is_shard && asked == Part::kKept && part == Part::kCut);
}

Beside beside(const RuleChoices& choices, const MovingInput& one, const MovingInput& other, int i) {
  Beside beside{};
  for (const RuleChoice& choice : choices.rules()) {
    const Placement &here = choice.rule.inputs[one.slot], &there = choice.rule.inputs[other.slot];
    const Part asked = one.bound->part_of(i, here);
    for (int part = 0; part < kParts; ++part) {
      if (may_be(asked, static_cast<Part>(part), here.is_shard()))
        beside[part][static_cast<int>(other.bound->part_of(i, there))] = true;
    }
  }
  return beside;
}

// The three entries that differ in mesh dim i, as indices by part.
std::array<size_t, kParts> entries(const MoveBound& bound, uint32_t kept, uint32_t cut, int i) {
  const uint32_t bit = uint32_t{1} << i;
  return {bound.index(kept, cut), bound.index(kept, cut | bit), bound.index(kept | bit, cut)};
}

// Turns mesh dim i of `table` from what the other input has there into what the one has.
void turn(const MoveBound& bound, int i, const Beside& beside, std::vector<int64_t>& table) {
  const uint32_t others = ((uint32_t{1} << bound.ndim()) - 1) & ~(uint32_t{1} << i);
  for_each_subset_or_none(others, [&](uint32_t kept) {
    for_each_subset_or_none(others & ~kept, [&](uint32_t cut) {
      const std::array<size_t, kParts> at = entries(bound, kept, cut, i);
      std::array<int64_t, kParts> least;
      least.fill(kImpossible);
      for (int part = 0; part < kParts; ++part) {
        for (int there = 0; there < kParts; ++there) {
          if (beside[part][there]) least[part] = std::min(least[part], table[at[there]]);
        }
      }
      for (int part = 0; part < kParts; ++part) table[at[part]] = least[part];
    });
  });
}

std::vector<int64_t> own_moves(const MovingInput& input) {
  const MoveBound& bound = *input.bound;
  std::vector<int64_t> table(bound.table_size(), kImpossible);
  if (input.stays) {
    table[bound.index(bound.may_keep(), 0)] = 0;
    return table;
  }
  bound.for_each_state([&](uint32_t kept, uint32_t cut) {
    table[bound.index(kept, cut)] = bound.least_ps(kept, cut);
  });
  return table;
}

}  // namespace

void find_other_moves(const RuleChoices& choices, std::span<const MovingInput> inputs, size_t of,
                      std::vector<int64_t>& ends) {
  ends.assign(inputs[of].bound->table_size(), 0);
  for (size_t other = 0; other < inputs.size(); ++other) {
    if (other == of) continue;
    std::vector<int64_t> table = own_moves(inputs[other]);
    for (int i = 0; i < inputs[of].bound->ndim(); ++i)
      turn(*inputs[of].bound, i, beside(choices, inputs[of], inputs[other], i), table);
    for (size_t entry = 0; entry < ends.size(); ++entry)
      ends[entry] = std::min(kImpossible, ends[entry] + table[entry]);
  }
}

}  // namespace onedim
