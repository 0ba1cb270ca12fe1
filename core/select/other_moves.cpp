#include "core/select/other_moves.hpp"

#include <algorithm>

namespace onedim {
namespace {

using Part = MoveBound::Part;
constexpr int kParts = 3;
constexpr int kMostDimsOfTwo = 5;  // 9^5 choices of two inputs
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

// Of one input's part and another's, which may stand beside a third's part on one mesh dim.
struct PartPair {
  int part = 0;
  size_t one = 0;
  size_t two = 0;
};

std::vector<PartPair> pairs_beside(const RuleChoices& choices, const MovingInput& input,
                                   const MovingInput& one, const MovingInput& two, int i) {
  std::array<bool, kParts * kParts * kParts> known{};
  std::vector<PartPair> pairs;
  for (const RuleChoice& choice : choices.rules()) {
    const Placement& here = choice.rule.inputs[input.slot];
    const Part asked = input.bound->part_of(i, here);
    const auto first = static_cast<size_t>(one.bound->part_of(i, choice.rule.inputs[one.slot]));
    const auto second = static_cast<size_t>(two.bound->part_of(i, choice.rule.inputs[two.slot]));
    for (int part = 0; part < kParts; ++part) {
      bool& is_known = known[(static_cast<size_t>(part) * kParts + first) * kParts + second];
      if (is_known || !may_be(asked, static_cast<Part>(part), here.is_shard())) continue;
      is_known = true;
      pairs.push_back({part, first, second});
    }
  }
  return pairs;
}

// Parts as digits, the last mesh dim first; each counts `scale`.
size_t digits_of(uint32_t kept, uint32_t cut, int ndim, size_t scale, size_t radix) {
  size_t digits = 0;
  for (int i = ndim - 1; i >= 0; --i) {
    const Part part = (kept >> i & 1) != 0  ? Part::kKept
                      : (cut >> i & 1) != 0 ? Part::kCut
                                            : Part::kWhole;
    digits = digits * radix + static_cast<size_t>(part) * scale;
  }
  return digits;
}

// What it costs to move one input to the parts that these digits say.
struct DigitCost {
  size_t digits = 0;
  int64_t ps = 0;
};

std::vector<DigitCost> own_digits(const MovingInput& input, size_t scale, size_t radix) {
  const MoveBound& bound = *input.bound;
  std::vector<DigitCost> costs;
  const auto note = [&](uint32_t kept, uint32_t cut, int64_t ps) {
    if (ps < kImpossible) costs.push_back({digits_of(kept, cut, bound.ndim(), scale, radix), ps});
  };
  if (input.stays) {
    note(bound.may_keep(), 0, 0);
  } else {
    bound.for_each_state(
        [&](uint32_t kept, uint32_t cut) { note(kept, cut, bound.least_ps(kept, cut)); });
  }
  return costs;
}

// Two others together: their parts are eliminated mesh dim by mesh dim, which leaves the least sum
// for each choice of the one input's parts.
void find_moves_of_two(const RuleChoices& choices, const MovingInput& input, const MovingInput& one,
                       const MovingInput& two, std::vector<int64_t>& ends) {
  constexpr size_t kPairs = kParts * kParts;
  const int ndim = input.bound->ndim();
  size_t rest = 1;  // choices of both others on the mesh dims that are left
  for (int i = 0; i < ndim; ++i) rest *= kPairs;
  std::vector<int64_t> table(rest, kImpossible), next;
  const std::vector<DigitCost> twos = own_digits(two, 1, kPairs);
  for (const DigitCost& a : own_digits(one, kParts, kPairs)) {
    for (const DigitCost& b : twos) table[a.digits + b.digits] = std::min(kImpossible, a.ps + b.ps);
  }
  size_t done = 1;  // choices of the input on the mesh dims before
  for (int i = ndim - 1; i >= 0; --i, done *= kParts) {
    rest /= kPairs;
    next.assign(done * kParts * rest, kImpossible);
    for (const PartPair& pair : pairs_beside(choices, input, one, two, i)) {
      for (size_t chosen = 0; chosen < done; ++chosen) {
        const int64_t* from = &table[(chosen * kPairs + pair.one * kParts + pair.two) * rest];
        int64_t* to = &next[(chosen * kParts + static_cast<size_t>(pair.part)) * rest];
        for (size_t k = 0; k < rest; ++k) to[k] = std::min(to[k], from[k]);
      }
    }
    table.swap(next);
  }
  ends.assign(input.bound->table_size(), kImpossible);
  const uint32_t all = (uint32_t{1} << ndim) - 1;
  for_each_subset_or_none(all, [&](uint32_t kept) {
    for_each_subset_or_none(all & ~kept, [&](uint32_t cut) {
      ends[input.bound->index(kept, cut)] = table[digits_of(kept, cut, ndim, 1, kParts)];
    });
  });
}

}  // namespace

void find_other_moves(const RuleChoices& choices, std::span<const MovingInput> inputs, size_t of,
                      std::vector<int64_t>& ends) {
  if (inputs.size() == 3 && inputs[of].bound->ndim() <= kMostDimsOfTwo)
    return find_moves_of_two(choices, inputs[of], inputs[(of + 1) % 3], inputs[(of + 2) % 3], ends);
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
