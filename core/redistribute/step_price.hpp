#pragma once
// StepPrice: what one single step costs, by the one cost model. Prices are whole picoseconds, so
// that sums are exact and equal costs are equal. The rules of packing are in step_kind.hpp. A step
// without a byte costs nothing and is no collective.

#include <vector>

#include "core/cost/cost_model.hpp"
#include "core/redistribute/dim_set.hpp"
#include "core/redistribute/state_graph.hpp"
#include "core/redistribute/state_sizes.hpp"

namespace onedim {

inline constexpr int64_t kImpossible = int64_t{1} << 61;  // ps: more than any plan costs

int64_t to_ps(double us);  // at most kImpossible

struct StepPrice {
  int64_t ps = 0;
  int64_t bytes = 0;       // received by a rank at most
  int64_t pack_bytes = 0;  // buffers of a rank at most
  int64_t unpack_bytes = 0;
  int64_t padding_bytes = 0;  // within the buffers
  int64_t memory_bytes = 0;   // source, target and buffers
  int64_t from_bytes = 0;     // source and target, of a rank at most
  int64_t to_bytes = 0;
  bool is_view = false;  // the target lies in the source's storage
  bool is_collective = false;
};

// One step's surroundings.
struct StepContext {
  const StateGraph* graph = nullptr;
  int from = 0;
  const StateSizes* from_sizes = nullptr;
  const StateSizes* to_sizes = nullptr;
  // Tensor dims; kernels that copy may write another order than they read, others keep it.
  int from_outermost = 0;
  int to_outermost = 0;

  bool keeps_memory() const {
    return is_same_memory(from_outermost, to_outermost, from_sizes->units & to_sizes->units);
  }
};

// What steps of one kind over one set of mesh dims cost at least out of one state, in ps.
struct StepFloor {
  int64_t ps = 0;
  int64_t copied_ps = 0;  // where the kernel must pack, or a slice be copied
};

// Prices the steps of one search; not thread-safe, as it remembers prices.
class StepPricer {
 public:
  // `graph` and `model` are borrowed. A slice `may_view` its source; else it copies always.
  void start(const CostModel& model, const StateGraph& graph, std::span<const GroupMember> group,
             bool may_view);

  StepPrice price(const StateStep& step, const StepContext& context);
  // Of the steps out of `from`, at `code`, that are of the kind and over the mesh dims of `step`.
  // With `may_rename` an all_to_all may move nothing.
  StepFloor floor(const StateStep& step, StateCode code, const StateSizes& from, bool may_rename);
  // Whether `price` need not count rank by rank what an all_to_all moves.
  bool is_quick(const StateStep& step, const StateSizes& from, const StateSizes& to) const {
    return step.kind != StepKind::kAllToAll || is_empty_ ||
           (((from.uneven | to.uneven) & step.mesh_dims) == 0 &&
            (step.is_split || step.share >= 0));
  }
  int64_t collective_ps(Collective collective, uint32_t mesh_dims, int64_t bytes);
  int64_t group_size(uint32_t mesh_dims) const { return dim_sets_.ranks(mesh_dims); }

 private:
  int64_t copy_ps(int64_t bytes);
  StepPrice gather(const StateStep& step, const StepContext& context);
  StepPrice reduce_scatter(const StateStep& step, const StepContext& context);
  StepPrice all_reduce(const StateStep& step, const StepContext& context);
  StepPrice exchange(const StateStep& step, const StepContext& context);
  bool has_own_combine(const StateStep& step, StateCode from) const;

  struct Remembered {
    uint32_t what = 0;
    uint32_t round = 0;
    int64_t bytes = 0;
    int64_t ps = 0;
  };
  Remembered& slot(uint32_t what, int64_t bytes);

  static constexpr size_t kRemembered = 2048;

  const CostModel* model_ = nullptr;
  std::span<const GroupMember> group_;
  bool is_empty_ = false;
  bool may_view_ = true;
  uint32_t own_kinds_ = 0;  // partial kinds of packs, by symbol
  std::vector<Remembered> remembered_{kRemembered};
  uint32_t round_ = 0;
  DimSetTable dim_sets_;
};

}  // namespace onedim
