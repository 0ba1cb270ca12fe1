#pragma once
// StrategyState: what the mesh dims decided so far have left of every slot: lengths per tensor dim,
// partial kinds, and which inputs still stand as the caller gave them. Mesh dims are applied in
// cutting order; the search and check_strategy share these steps, so what is searched is what is
// valid.

#include "core/select/strategy.hpp"

namespace onedim {

// Whether mesh dims that share a tensor dim of `layout` cut it as they stand in `order`.
bool cuts_in_order(const Layout& layout, const Dims& order, int tensor_ndim);

// What one call fixes for all states: where each slot's dims lie, and which inputs can stand as
// given under one cutting order.
class StrategyFrame {
 public:
  StrategyFrame(const SelectSubject& subject, const Dims& order);

  const SelectSubject& subject() const { return subject_; }
  size_t input_count() const { return subject_.call.inputs.size(); }
  size_t slot_count() const { return input_count() + subject_.outputs.size(); }
  // Inputs, then outputs; null where absent.
  const TensorMeta* meta(size_t slot) const;
  size_t first_dim(size_t slot) const { return first_dims_[slot]; }
  size_t dim_count() const { return first_dims_.back(); }
  // The current layout cuts no tensor dim in another order than the frame's.
  bool keeps_order(size_t input) const { return keeps_order_[input]; }
  // The input that a slot is, or that an output is written into; -1 for other outputs.
  int input_behind(size_t slot) const { return inputs_behind_[slot]; }
  bool has_elements(size_t slot) const { return has_elements_[slot]; }

 private:
  const SelectSubject& subject_;
  absl::InlinedVector<size_t, 8> first_dims_;
  absl::InlinedVector<bool, 8> keeps_order_;
  absl::InlinedVector<int, 8> inputs_behind_;
  absl::InlinedVector<bool, 8> has_elements_;
};

// Why a rule may not be put on a mesh dim.
struct Refusal {
  enum class Why : uint8_t { kNone, kUneven, kRequirement, kPolicy, kPartials };
  Why why = Why::kNone;
  size_t slot = 0;
  int dim = 0;
  int64_t multiple = 0;
  bool refused() const { return why != Why::kNone; }
};

class StrategyState {
 public:
  explicit StrategyState(const StrategyFrame& frame);
  // The state is only meaningful afterwards if nothing was refused.
  Refusal apply(const StrategyFrame& frame, const Rule& rule, int mesh_dim);
  // Of the dims of all slots; see StrategyFrame::first_dim.
  std::span<const CutLengths> lengths() const { return lengths_; }

 private:
  using Kinds = absl::InlinedVector<const Placement*, 2>;  // of one tensor, each once

  void note_given(const StrategyFrame& frame, const Rule& rule, int mesh_dim);
  bool is_bound(const StrategyFrame& frame, size_t slot) const;
  Refusal cut(const StrategyFrame& frame, const Rule& rule, size_t slot, const Placement& placement,
              int mesh_dim);
  Refusal meet(size_t slot, const Placement& placement);

  absl::InlinedVector<CutLengths, 12> lengths_;
  absl::InlinedVector<Kinds, 6> kinds_;
  absl::InlinedVector<bool, 8> as_given_;
};

// The refusal in words: `mesh dim tp of size 8: S(0) of input 1 cuts 10 unevenly`.
Status refusal_status(const StrategyFrame& frame, const Rule& rule, int mesh_dim,
                      const Refusal& refusal);

}  // namespace onedim
