#pragma once
// StateGraph: the states over one alphabet and the single steps between them, as integers
// (step_kind.hpp has the table). It knows mesh sizes only through the alphabet's list of mesh dims,
// and no tensor sizes: policy, prices and memory are the search's. States are numbered as they are
// met and expanded on demand; a complete graph is immutable and may be shared by threads. A graph
// of very many steps keeps the first ones it listed and lists the others anew each time.

#include <absl/container/flat_hash_map.h>

#include <atomic>
#include <deque>
#include <vector>

#include "core/cost/collective.hpp"
#include "core/redistribute/alphabet.hpp"
#include "core/redistribute/step_kind.hpp"

namespace onedim {

// A single step out of a state.
struct StateStep {
  int32_t to = 0;  // state
  StepKind kind = StepKind::kAlias;
  uint8_t mesh_dims = 0;  // bit i: i-th mesh dim of the code
  // The tensor dim before which nothing may lie for the kernel to be spared; -1: never spared.
  int8_t pack_dim = -1;    // reduce_scatter, all_to_all; of a slice, the copy
  int8_t unpack_dim = -1;  // all_gather, all_to_all
  bool is_split = false;   // all_to_all: each rank keeps the w-th part of its part
  // Of another all_to_all without strided shards: where the graph keeps it, or kPassingShare.
  int32_t share = -1;
  static constexpr int32_t kPassingShare = -2;  // not kept, as the step is not
};

// What one search wants of the steps out of a state.
class StepFilter {
 public:
  virtual ~StepFilter() = default;
  // Of the steps of a kind over a set of mesh dims; asked before each of these.
  virtual bool wants_any(StepKind kind, uint32_t mesh_dims) = 0;
  virtual bool wants(StateCode to) = 0;
};

// The share of its new part that a rank lacks at most where all cuts divide.
struct MissingShare {
  int64_t missing = 0;
  int64_t whole = 1;
};

class StateGraph {
 public:
  StateGraph(Alphabet alphabet, bool allow_shard_to_partial);

  const Alphabet& alphabet() const { return alphabet_; }
  int size() const { return static_cast<int>(codes_.size()); }
  size_t step_count() const { return steps_.size(); }  // kept
  StateCode code(int state) const { return codes_[state]; }
  // The state of a code; new states are added unless the graph is complete, then -1.
  int intern(StateCode code);
  int find(StateCode code) const;
  void expand(int state);
  // Lists only the steps that `filter` wants, and keeps none. Of graphs that are not complete.
  void expand(int state, StepFilter& filter);
  // Of the state expanded last, or of one that is still kept; valid until the next expansion.
  // Collectives come last, all_to_all behind the others.
  std::span<const StateStep> steps(int state) const {
    return std::span(steps_).subspan(ranges_[state].begin, ranges_[state].count);
  }

  // Of an all_to_all whose `share` is not -1, out of state `from`. Of steps that are kept it is
  // worked out when first asked for; it depends on the mesh alone.
  MissingShare missing_share(int from, const StateStep& step) const;

  // Expands all states reachable from all-R and numbers them in text order. False, with the graph
  // unusable, if there are more than `most_states`.
  bool complete(int most_states);
  bool is_complete() const { return is_complete_; }

 private:
  friend class StepMaker;
  struct Range {
    uint32_t begin = 0;
    int32_t count = -1;  // not expanded yet
  };

  Alphabet alphabet_;
  bool allow_shard_to_partial_;
  void forget_passing();
  void list_steps(int state, StepFilter* filter);
  uint64_t work_out_share(StateCode from, StateCode to) const;

  bool is_complete_ = false;
  bool keeps_all_ = false;
  int passing_ = -1;  // the state whose steps are not kept, behind all others
  std::vector<StateCode> codes_;
  std::vector<Range> ranges_;
  std::vector<StateStep> steps_;
  absl::flat_hash_map<StateCode, int32_t> index_;
  mutable std::deque<std::atomic<uint64_t>>
      shares_;  // missing and whole in 32 bits each; 0: unknown
};

}  // namespace onedim
