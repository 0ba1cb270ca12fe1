#pragma once
// SelectionBench: what one decision of a Selector takes, for one call on one mesh, over random
// layouts of the call's inputs. Uncached: every decision and every plan is forgotten before each
// decision; only tables that depend on the mesh alone stay, and they are complete before the first
// time is taken. Cached: a decision that is looked up.

#include <memory>

#include "core/select/selector.hpp"

namespace onedim {

// A layout per input slot; without placements where the slot is absent.
using LayoutDraw = std::vector<Layout>;

// Distinct draws, at most `count`, fewer where there are not as many. Each mesh dim of each input
// is, with equal chances, replicated, partial or a shard of one of its dims.
std::vector<LayoutDraw> draw_layouts(const Call& call, const Mesh& mesh, int64_t count,
                                     uint64_t seed);

// The call that stands for `op` where none is given: matrices of 4096 for the ops whose decisions
// are compared with other systems, else the largest of the op's samples.
Result<std::string> default_bench_call(const Op& op);

class SelectionBench {
 public:
  // `registry` and `op` are borrowed; `call` is the op's.
  SelectionBench(const Registry& registry, const Op& op, Call call,
                 std::shared_ptr<const CostModel> model, int64_t count, uint64_t seed);
  SelectionBench(const SelectionBench&) = delete;
  SelectionBench& operator=(const SelectionBench&) = delete;

  Planner& planner() { return planner_; }
  Selector& selector() { return selector_; }
  const std::vector<LayoutDraw>& draws() const { return draws_; }
  SelectRequest request(size_t draw) const { return {op_, &call_, draws_[draw], {}, {}}; }

  struct Uncached {
    double us = 0;  // CPU time of this thread, so that other work on the machine does not count
    double cost_us = 0;
  };
  // Errors name the draw.
  Result<Uncached> decide_uncached(size_t draw);
  // Draws that no strategy serves (an output written in place ...) are left out; their number. Each
  // draw is decided once, which completes the tables of the mesh.
  Result<int64_t> drop_refused();
  // Time in ns of one look-up, a mean for each of `batches`: one draw after the other, each looked
  // up as often as makes the clock's own time small. Each must have been decided.
  std::vector<double> cached_ns(size_t first_draw, int batches);

 private:
  const Op* op_;
  Call call_;
  std::vector<LayoutDraw> draws_;
  Planner planner_;
  Selector selector_;
};

struct SelectionTimes {
  int64_t distinct = 0;  // draws; all are timed in turn until `decisions` are
  int64_t refused = 0;
  double first_us = 0;  // the first decision of a thread, which makes the tables it meets
  double uncached_us_p50 = 0, uncached_us_p99 = 0, uncached_us_max = 0;
  double cached_ns_p50 = 0, cached_ns_p99 = 0;
  double threads4_ns_p50 = 0;  // of each of four threads at once
  double cost_sum_us = 0;      // of what was chosen, each draw once
};

// Fails if a decision does, and if a cached one was not looked up.
Result<SelectionTimes> measure_selection(SelectionBench& bench, int64_t decisions);

}  // namespace onedim
