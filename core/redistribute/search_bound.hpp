#pragma once
// SearchBound: what is still to be paid at least from a state to the target, for A*: the exact cost
// of an easier problem, in which tensors have no lengths. There each mesh dim is R, S as in the
// target, S otherwise, or P as in the target or not; ranks hold the mean of the tensor's bytes over
// the mesh dims that shard; any set of mesh dims may be gathered, reduced, scattered to where the
// target wants them or exchanged, at the price of the collective alone; local steps are free. Each
// true step is a step there that costs no more, provided that prices do not fall with bytes, so the
// bound is admissible and consistent. A mesh dim is there only what the alphabet lets it be.

#include "core/redistribute/step_price.hpp"

namespace onedim {

class SearchBound {
 public:
  // `may_rename`: an all_to_all may move nothing, so exchanges are free.
  void start(const StateGraph& graph, std::span<const GroupMember> group, StateCode target,
             bool may_rename, bool allow_shard_to_partial, StepPricer& pricer);

  int64_t floor_ps(StateCode code) const { return costs_.empty() ? 0 : costs_[simplify(code)]; }
  // The same if all mesh dims cut as in the target: no all_to_all lowers it.
  int64_t rest_ps(StateCode code) const {
    return costs_.empty() ? 0 : costs_[in_place(simplify(code))];
  }

 private:
  using Simple = uint32_t;  // two bits a mesh dim
  struct Prices {
    int64_t gather = 0, exchange = 0, reduce = 0, scatter = 0;
  };
  struct Entry {
    int64_t ps = 0;
    Simple state = 0;
  };

  Simple simplify(StateCode code) const;
  Simple in_place(Simple state) const;  // misplaced shards as the target has them
  void read_alphabet();
  void price_steps(int64_t bytes, bool may_rename, StepPricer& pricer);
  void reach(Simple state, int64_t ps);
  template <typename Body>
  void for_each_shard(uint32_t dims, Body&& body) const;
  template <typename Body>
  void for_each_partial(uint32_t dims, Body&& body) const;
  void local_back(const Entry& entry, uint32_t cuts, uint32_t partials);
  void step_back(const Entry& entry);
  uint32_t dims_with(Simple state, uint32_t value) const;
  Prices& prices(uint32_t shards, uint32_t dims) { return prices_[shards << ndim_ | dims]; }

  const Alphabet* alphabet_ = nullptr;
  StateCode target_ = 0;
  int ndim_ = 0;
  bool allow_shard_to_partial_ = false;
  bool has_kinds_ = false;
  uint32_t shard_dims_ = 0, partial_dims_ = 0;  // of the target
  uint32_t may_cut_ = 0, may_reduce_ = 0;       // may be shards; may be partials that must go
  std::vector<int64_t> costs_;                  // per simple state, from the target backwards
  std::vector<Entry> queue_;
  std::vector<Prices> prices_;  // per set of mesh dims that shard and set that takes part
};

}  // namespace onedim
