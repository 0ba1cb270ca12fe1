#include "core/validate/combinations.hpp"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <bit>
#include <set>

#include "core/validate/random.hpp"

namespace onedim {
namespace {

// Which candidates of one output a record may speak of, and what its local call is told.
struct ToldOption {
  Placement told;
  PlacementSet wanted = 0;
};

PlacementSet bit_of(const std::vector<Placement>& alphabet, const Placement& placement) {
  const auto found = std::find(alphabet.begin(), alphabet.end(), placement);
  return found == alphabet.end() ? 0 : PlacementSet{1} << (found - alphabet.begin());
}

PlacementSet all_bits(const std::vector<Placement>& alphabet) {
  return (PlacementSet{1} << alphabet.size()) - 1;
}

std::vector<ToldOption> each_candidate(const std::vector<Placement>& alphabet, PlacementSet among) {
  std::vector<ToldOption> options;
  for (size_t i = 0; i < alphabet.size(); ++i) {
    if (among >> i & 1) options.push_back({alphabet[i], PlacementSet{1} << i});
  }
  return options;
}

// The local shapes know shards apart; R and the partials share one local call.
std::vector<ToldOption> each_shape(const std::vector<Placement>& alphabet, PlacementSet among) {
  std::vector<ToldOption> options{{Placement::replicate(), 0}};
  for (size_t i = 0; i < alphabet.size(); ++i) {
    if ((among >> i & 1) == 0) continue;
    if (alphabet[i].is_shard())
      options.push_back({alphabet[i], PlacementSet{1} << i});
    else
      options[0].wanted |= PlacementSet{1} << i;
  }
  if (options[0].wanted == 0) options.erase(options.begin());
  return options;
}

// Candidates whose shape fits the local results at some of the first sites: told R everywhere, or
// told the candidate itself, since an op may take an output's shape from there.
std::vector<PlacementSet> fitting(Case& c, std::span<const Placement> inputs) {
  const std::vector<Placement> replicated(c.outputs.size(), Placement::replicate());
  std::vector<PlacementSet> sets(c.outputs.size(), 0);
  const size_t count = std::min<size_t>(c.sites.size(), c.options.redraw_sizes ? 3 : 8);
  for (size_t i = 0; i < count; ++i) {
    Trial trial(*c.sites[i].place, {inputs, replicated, 0},
                Sharing::kShared);  // shapes depend on cuts only
    for (size_t output = 0; output < sets.size(); ++output) {
      const std::vector<Placement>& alphabet = c.outputs[output];
      sets[output] |= trial.fitting(static_cast<int>(output), alphabet, all_bits(alphabet));
      for (const Placement& candidate : alphabet) {
        if (!candidate.is_shard() || (sets[output] & bit_of(alphabet, candidate)) != 0) continue;
        std::vector<Placement> told = replicated;
        told[output] = candidate;
        Trial itself(*c.sites[i].place, {inputs, told, 0}, Sharing::kShared);
        sets[output] |=
            itself.fitting(static_cast<int>(output), alphabet, bit_of(alphabet, candidate));
      }
    }
  }
  return sets;
}

// What fits for inputs that are cut alike, by their cuts.
using FittingSets = absl::flat_hash_map<Cuts, std::vector<PlacementSet>>;

const std::vector<PlacementSet>& fitting(Case& c, std::span<const Placement> inputs,
                                         FittingSets& known) {
  Cuts cuts;
  add_cuts(inputs, cuts);
  auto [entry, is_new] = known.try_emplace(std::move(cuts));
  if (is_new) entry->second = fitting(c, inputs);
  return entry->second;
}

std::vector<std::vector<ToldOption>> told_options(Case& c, std::span<const Placement> inputs,
                                                  FittingSets& known) {
  const Op& op = *c.op;
  const bool has_targets = std::count(c.is_target.begin(), c.is_target.end(), true) > 0;
  std::vector<PlacementSet> fits;
  if (op.is_position_aware() && op.size_attributes.empty() && !has_targets)
    fits = fitting(c, inputs, known);
  std::vector<std::vector<ToldOption>> options;
  for (size_t output = 0; output < c.outputs.size(); ++output) {
    const std::vector<Placement>& alphabet = c.outputs[output];
    const int slot = c.written_input[output];
    if (alphabet[0].is_none()) {
      options.push_back({{Placement::none(), 0}});
    } else if (slot >= 0 && !c.is_target[slot]) {
      options.push_back({{inputs[slot], bit_of(alphabet, inputs[slot])}});
    } else if (op.is_position_aware()) {
      const PlacementSet among = fits.empty() ? all_bits(alphabet) : fits[output];
      // The choices of several outputs multiply, so there only shapes are told apart in the search;
      // claims are always judged as they stand.
      options.push_back(c.outputs.size() > 1 ? each_shape(alphabet, among)
                                             : each_candidate(alphabet, among));
    } else if (slot >= 0 || op.depends_on_output_placement()) {
      options.push_back(each_shape(alphabet, all_bits(alphabet)));
    } else {
      options.push_back({{Placement::replicate(), all_bits(alphabet)}});
    }
  }
  return options;
}

// Calls `body(digits)` for every choice of one index per list; `body` returns false to stop.
template <typename Body>
void for_each_choice(const std::vector<size_t>& sizes, Body&& body) {
  std::vector<size_t> digits(sizes.size(), 0);
  if (std::count(sizes.begin(), sizes.end(), 0) > 0) return;
  while (true) {
    if (!body(digits)) return;
    size_t place = sizes.size();
    while (place > 0 && ++digits[place - 1] == sizes[place - 1]) digits[--place] = 0;
    if (place == 0) return;
  }
}

bool splittable(const Case::Site& site, std::span<const Placement> inputs, bool* even) {
  const std::vector<OptionalMeta>& metas = site.place->subject().call.inputs;
  *even = true;
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    if (!metas[slot]) continue;
    if (!is_splittable(inputs[slot], metas[slot]->shape)) return false;
    *even &= divides(inputs[slot], metas[slot]->shape, site.place->world());
  }
  return true;
}

// What is still possible for each output.
struct Alive {
  std::vector<PlacementSet> always;
  std::vector<PlacementSet> even;

  bool any_rule(const std::vector<std::vector<Placement>>& outputs) const {
    bool can_always = true, can_even = true;
    for (size_t output = 0; output < outputs.size(); ++output) {
      if (outputs[output][0].is_none()) continue;
      can_always &= always[output] != 0;
      can_even &= even[output] != 0;
    }
    return can_always || can_even;
  }
};

// Candidates that can be tried at the site, and those of them that divide there.
struct Triable {
  PlacementSet here = 0;
  PlacementSet even = 0;
};

Triable triable(const Case& c, const Case::Site& site, size_t output) {
  Triable set;
  const OptionalOutput& meta = site.place->subject().outputs[output];
  for (size_t i = 0; meta && i < c.outputs[output].size(); ++i) {
    const Placement& candidate = c.outputs[output][i];
    if (!is_splittable(candidate, meta->meta.shape)) continue;
    set.here |= PlacementSet{1} << i;
    if (divides(candidate, meta->meta.shape, site.place->world())) set.even |= PlacementSet{1} << i;
  }
  return set;
}

void note_site(const Case& c, const Case::Site& site, const SiteRecord& record, Alive& alive) {
  for (size_t output = 0; output < c.outputs.size(); ++output) {
    const Triable set = triable(c, site, output);
    const PlacementSet holds = record.verdict.outputs[output].holds;
    alive.always[output] &= holds | ~set.here;
    if (record.even) alive.even[output] &= holds | ~set.even;
  }
}

class Search {
 public:
  Search(Case& c, std::span<const std::vector<Placement>> claimed, SearchStatistics& statistics)
      : c_(c), claimed_(claimed.begin(), claimed.end()), statistics_(statistics) {
    for (size_t slot = 0; slot < c.inputs.size(); ++slot) {
      sizes_.push_back(c.is_target[slot] ? 1 : c.inputs[slot].size());
    }
  }

  std::vector<CombinationRecord> run() {
    statistics_.combinations = 1;
    for (const size_t size : sizes_) statistics_.combinations *= static_cast<int64_t>(size);
    if (statistics_.combinations <= c_.options.combination_limit) {
      for_each_choice(sizes_,
                      [&](const std::vector<size_t>& digits) { return try_digits(digits), true; });
    } else {
      sample();
    }
    return std::move(records_);
  }

 private:
  void try_digits(const std::vector<size_t>& digits) {
    std::vector<Placement> inputs;
    for (size_t slot = 0; slot < digits.size(); ++slot) {
      inputs.push_back(c_.is_target[slot] ? Placement::none() : c_.inputs[slot][digits[slot]]);
    }
    ++statistics_.tried;
    try_inputs(inputs, claimed_.count(inputs) > 0);
  }

  void try_inputs(const std::vector<Placement>& inputs, bool is_claimed) {
    std::vector<Placement> placed = inputs;
    const std::vector<std::vector<ToldOption>> options = told_options(c_, placed, fitting_);
    std::vector<size_t> sizes;
    for (const std::vector<ToldOption>& option : options) sizes.push_back(option.size());
    for_each_choice(sizes, [&](const std::vector<size_t>& digits) {
      CombinationRecord record;
      for (size_t output = 0; output < digits.size(); ++output) {
        const ToldOption& option = options[output][digits[output]];
        record.told.push_back(option.told);
        record.wanted.push_back(option.wanted);
        const int slot = c_.written_input[output];
        if (slot >= 0 && c_.is_target[slot]) placed[slot] = option.told;
      }
      record.inputs = placed;
      if (try_record(record, is_claimed)) records_.push_back(std::move(record));
      return true;
    });
  }

  bool try_record(CombinationRecord& record, bool is_claimed) {
    Alive alive{record.wanted, record.wanted};
    for (Case::Site& site : c_.sites) {
      SiteRecord& at = record.sites.emplace_back();
      if (!splittable(site, record.inputs, &at.even)) continue;
      std::vector<PlacementSet> wanted = record.wanted;
      for (size_t output = 0; !is_claimed && output < wanted.size(); ++output) {
        wanted[output] = alive.always[output] | (at.even ? alive.even[output] : 0);
      }
      at.tried = true;
      Trial trial(*site.place, {record.inputs, record.told, 0},
                  c_.op->is_position_aware() ? Sharing::kOwn : Sharing::kShared);
      at.verdict = trial.run(c_.outputs, wanted, c_.options.draws, !is_claimed);
      at.is_refused = !at.verdict.is_offered;
      at.tried = !at.is_refused;
      if (at.is_refused) continue;
      note_site(c_, site, at, alive);
      if (!is_claimed && !alive.any_rule(c_.outputs)) return false;
    }
    return true;
  }

  // Claims, their neighbours by one slot, then random combinations up to the limit.
  void sample() {
    std::set<std::vector<size_t>> chosen;
    for (const std::vector<Placement>& inputs : claimed_) add_neighbours(inputs, chosen);
    Random random(mix_key(c_.options.seed, 77));
    for (int64_t i = 0; i < c_.options.combination_limit &&
                        static_cast<int64_t>(chosen.size()) < c_.options.combination_limit;
         ++i) {
      std::vector<size_t> digits;
      for (const size_t size : sizes_) digits.push_back(random.below(static_cast<int64_t>(size)));
      chosen.insert(std::move(digits));
    }
    for (const std::vector<size_t>& digits : chosen) try_digits(digits);
  }

  void add_neighbours(const std::vector<Placement>& inputs,
                      std::set<std::vector<size_t>>& chosen) const {
    std::vector<size_t> digits;
    for (size_t slot = 0; slot < inputs.size(); ++slot) {
      const std::vector<Placement>& alphabet = c_.inputs[slot];
      const auto found = std::find(alphabet.begin(), alphabet.end(), inputs[slot]);
      if (!c_.is_target[slot] && found == alphabet.end()) return;
      digits.push_back(c_.is_target[slot] ? 0 : found - alphabet.begin());
    }
    for (size_t slot = 0; slot < digits.size(); ++slot) {
      const size_t kept = digits[slot];
      for (size_t other = 0; other < sizes_[slot]; ++other) {
        digits[slot] = other;
        if (static_cast<int64_t>(chosen.size()) < c_.options.combination_limit)
          chosen.insert(digits);
      }
      digits[slot] = kept;
    }
  }

  Case& c_;
  std::set<std::vector<Placement>> claimed_;
  SearchStatistics& statistics_;
  FittingSets fitting_;
  std::vector<size_t> sizes_;
  std::vector<CombinationRecord> records_;
};

}  // namespace

std::vector<Placement> read_inputs(const Case& c, std::span<const Placement> inputs) {
  std::vector<Placement> read(inputs.begin(), inputs.end());
  for (size_t slot = 0; slot < read.size(); ++slot) {
    if (c.is_target[slot]) read[slot] = Placement::none();
  }
  return read;
}

bool covers(const Case& c, const CombinationRecord& record, const Rule& rule) {
  if (read_inputs(c, record.inputs) != read_inputs(c, rule.inputs)) return false;
  for (size_t output = 0; output < rule.outputs.size(); ++output) {
    if (rule.outputs[output].is_none()) continue;
    if ((record.wanted[output] & bit_of(c.outputs[output], rule.outputs[output])) == 0)
      return false;
    if (c.op->is_position_aware() && record.told[output] != rule.outputs[output]) return false;
  }
  return true;
}

std::vector<CombinationRecord> search_combinations(Case& c,
                                                   std::span<const std::vector<Placement>> claimed,
                                                   SearchStatistics& statistics) {
  return Search(c, claimed, statistics).run();
}

Survivors survivors_of(const Case& c, const CombinationRecord& record) {
  Alive alive{record.wanted, record.wanted};
  std::vector<PlacementSet> judged(c.outputs.size(), 0), judged_even(c.outputs.size(), 0);
  for (size_t i = 0; i < record.sites.size(); ++i) {
    const SiteRecord& at = record.sites[i];
    if (!at.tried) continue;
    note_site(c, c.sites[i], at, alive);
    for (size_t output = 0; output < judged.size(); ++output) {
      judged[output] |= at.verdict.outputs[output].judged;
      if (at.even)
        judged_even[output] |=
            at.verdict.outputs[output].judged & triable(c, c.sites[i], output).even;
    }
  }
  for (size_t output = 0; output < judged.size(); ++output) {
    alive.always[output] &= judged[output];
    alive.even[output] &= judged_even[output];
  }
  return {std::move(alive.always), std::move(alive.even)};
}

}  // namespace onedim
