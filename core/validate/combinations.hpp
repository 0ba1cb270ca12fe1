#pragma once
// Combinations: every combination of input placements of a case, tried at its sites until nothing
// it could prove is left. What survives, and whatever is claimed of, is recorded site by site, so
// that claims are judged and missing rules found from one table. One combination is one record, or,
// where the local call depends on where its outputs lie, one record for each class of output
// placements.

#include "core/validate/case_setup.hpp"

namespace onedim {

// What a combination showed at one site.
struct SiteRecord {
  bool tried =
      false;  // false: a shard on a dim of length 1 here, or the combination was dead before
  bool even = false;        // all its input shards divide
  bool is_refused = false;  // by accept_local: it is not offered here, and counts as not tried
  TrialVerdict verdict;
};

struct CombinationRecord {
  std::vector<Placement> inputs;     // target slots: what the local call was told
  std::vector<Placement> told;       // output placements that the local call was told
  std::vector<PlacementSet> wanted;  // per output: the candidates that this record speaks of
  std::vector<SiteRecord> sites;
};

// True if `rule`'s placements are among those the record speaks of.
bool covers(const Case& c, const CombinationRecord& record, const Rule& rule);

struct SearchStatistics {
  int64_t combinations = 0;  // in the whole space of input placements
  int64_t tried = 0;
};

// `claimed` combinations (see read_inputs) are tried everywhere and recorded whatever they show.
// Combinations beyond the limit are sampled, claimed ones first.
std::vector<CombinationRecord> search_combinations(Case& c,
                                                   std::span<const std::vector<Placement>> claimed,
                                                   SearchStatistics& statistics);

// `rule`'s input placements with `-` for targets: how claims are looked up.
std::vector<Placement> read_inputs(const Case& c, std::span<const Placement> inputs);

// Per output the candidates that held at every site where they could be tried / at every even one.
struct Survivors {
  std::vector<PlacementSet> always;
  std::vector<PlacementSet> even;
};
Survivors survivors_of(const Case& c, const CombinationRecord& record);

}  // namespace onedim
