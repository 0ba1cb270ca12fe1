#pragma once
// StepMaker: lists the single steps out of one state of a StateGraph, by the table of
// step_kind.hpp.

#include "core/redistribute/state_graph.hpp"

namespace onedim {

class StepMaker {
 public:
  // A `filter` of null wants all.
  StepMaker(StateGraph& graph, int state, StepFilter* filter);
  // Appends the steps to the graph's list.
  void run();

 private:
  // Where the mesh dims of a step's D go: a symbol, and a place behind the cuts that stay.
  struct Entry {
    int symbol = 0;
    int place = 0;
  };
  using Entries = std::array<Entry, 8>;

  bool is_last(uint32_t dims) const;
  // Calls `body(entries)` for each way to shard all of `dims`; entries are indexed by mesh dim.
  template <typename Body>
  void for_each_sharding(uint32_t dims, Body&& body);
  template <typename Body>
  void place_next(uint32_t left, uint32_t placed, Entries& entries, Body& body);

  void add(StepKind kind, uint32_t dims, StateCode to, int pack_dim = -1, int unpack_dim = -1,
           bool is_split = false);
  void add_local(uint32_t dims);
  void add_to_partial(uint32_t dims);
  void add_reductions(uint32_t dims);
  void add_scales(uint32_t dims);
  void add_gather(uint32_t dims);
  void add_exchanges(uint32_t dims);

  StateCode replace(uint32_t dims, const Entries& entries) const;
  StateCode replace(uint32_t dims, int symbol) const;
  bool may_take(int kind_symbol, uint32_t dims) const;
  // The one tensor dim that `dims` cut in a state, all plain, or -1; `is_ascending` also asks for
  // left-to-right order.
  int single_dim(uint32_t dims, const Entries& entries, bool is_ascending) const;
  bool is_reducible(uint32_t dims, const Entries& entries) const;

  bool wants(StepKind kind, uint32_t dims) {
    return filter_ == nullptr || filter_->wants_any(kind, dims);
  }

  StateGraph& graph_;
  StepFilter* filter_;
  const Alphabet& alphabet_;
  StateCode code_;
  int ndim_;
  Entries now_{};
  uint32_t sharded_ = 0, replicated_ = 0, partial_ = 0;
  std::array<uint32_t, 8> after_{};      // per mesh dim: those that cut its tensor dim later
  std::array<uint8_t, 32> cut_count_{};  // per tensor dim
  std::array<uint8_t, 32> kept_{};       // per tensor dim: cuts outside of the step's D
};

}  // namespace onedim
