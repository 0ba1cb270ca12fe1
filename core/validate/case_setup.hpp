#pragma once
// Case: one sample of an op with all that its rules are judged on: the sample's own sizes and their
// variants, each in the worlds it serves, and the alphabet of placements of every slot. Places come
// in the order in which they refute best: even sizes first, since what fails there is neither a
// rule nor an even-only rule. A case belongs to one thread.

#include <memory>
#include <vector>

#include "core/pack/registry.hpp"
#include "core/validate/place.hpp"
#include "core/validate/trial.hpp"

namespace onedim {

struct CaseOptions {
  std::vector<int64_t> worlds{2, 3, 4};
  uint64_t seed = 1;
  int draws = 9;             // of values at each place; a case has three to nine places
  bool redraw_sizes = true;  // false: the sample's sizes only
  int64_t combination_limit = 40000;
};

struct Case {
  struct Site {
    int subject = 0;
    std::unique_ptr<Place> place;
  };

  const Op* op = nullptr;
  const Registry* registry = nullptr;
  CaseOptions options;
  std::vector<std::unique_ptr<Subject>> subjects;  // the sample first
  std::vector<Site> sites;
  std::vector<Site> later_sites;                // of single rules, added while the case is judged
  std::vector<std::vector<Placement>> inputs;   // alphabet per slot: `-` alone where absent
  std::vector<std::vector<Placement>> outputs;  // likewise
  std::vector<int> written_input;  // per output: the input slot it is written into, or -1
  std::vector<bool> is_target;     // per input slot: only written, so it is placed as its output

  const Subject& sample() const { return *subjects[0]; }
  // Later sites are numbered on from `sites`.
  const Site& site(int number) const;
  int add_later_site(Subject subject, int64_t world);
  std::string text() const;  // the sample as on the command line
  Status fault() const;      // of its places, see Place
};

// Fails where the op refuses its own sample, has no kernel for it, or one that does not follow
// strides; and where a tensor has more elements than can be judged.
Result<Case> make_case(const Op& op, CallText sample, const Registry& registry,
                       const CaseOptions& options);

// R, a shard of every dim longer than 1, and the partials legal for the dtype.
std::vector<Placement> alphabet_of(const TensorMeta& meta);

}  // namespace onedim
