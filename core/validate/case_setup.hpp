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
  int draws = 8;             // of values at each place; a case has three to nine places
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
  std::vector<std::vector<Placement>> inputs;   // alphabet per slot: `-` alone where absent
  std::vector<std::vector<Placement>> outputs;  // likewise
  std::vector<int> written_input;  // per output: the input slot it is written into, or -1
  std::vector<bool> is_target;     // per input slot: only written, so it is placed as its output

  const Subject& sample() const { return *subjects[0]; }
  std::string text() const;  // the sample as on the command line
};

// Fails where the op refuses its own sample, or has no kernel for it.
Result<Case> make_case(const Op& op, CallText sample, const Registry& registry,
                       const CaseOptions& options);

// R, a shard of every dim longer than 1, and the partials legal for the dtype.
std::vector<Placement> alphabet_of(const TensorMeta& meta);

}  // namespace onedim
