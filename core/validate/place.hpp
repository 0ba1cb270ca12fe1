#pragma once
// Place: one set of sizes of a case in one world, with everything that many input combinations
// share there: the drawn global inputs, the truth (the op on whole tensors), the local tensors of
// every slot under every placement, and which global elements a shard owns. All of it is made on
// first use and kept. A draw is keyed by seed, sizes, world and number, so results do not depend on
// the order of use. What a kernel does against the contract whatever its rules are (an output left
// unwritten, an input changed) is a fault of the place. Not thread-safe.

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/validate/judge.hpp"
#include "core/validate/rank_set.hpp"
#include "core/validate/value_draw.hpp"

namespace onedim {

struct Draw {
  std::vector<Tensor> inputs;                // empty tensors where absent
  std::vector<std::optional<Truth>> truths;  // per output
  Status status;                             // of the op on whole tensors
  bool has_large_values = false;             // of DrawKind::kLarge
  bool may_wrap = false;                     // integers, with values or constants that are large
  std::vector<uint64_t> prints;              // of the inputs as drawn
};

// What the op gives on whole tensors, one an output; written inputs are copied first.
Result<std::vector<std::optional<Truth>>> compute_truths(const Subject& subject,
                                                         const std::vector<Tensor>& inputs);

using OwnedElements = std::vector<std::vector<int32_t>>;  // per rank, in local order

// The splits of one slot under one placement, made draw by draw.
struct LocalTensors {
  int slot = 0;
  Placement placement;
  std::vector<std::vector<Tensor>> draws;
  std::vector<uint64_t> prints;  // of the first draw as made
};

// The dim that each placement cuts, -1 where it cuts none: what local shapes depend on.
using Cuts = absl::InlinedVector<int8_t, 24>;
void add_cuts(std::span<const Placement> placements, Cuts& cuts);

class Place {
 public:
  // `subject` outlives the place. `wraps`: see SplitOptions.
  Place(const Subject& subject, int64_t world, uint64_t key, bool wraps = false);

  const Subject& subject() const { return *subject_; }
  int64_t world() const { return world_; }
  const Draw& draw(int number);
  // The local tensors of `slot` under a placement, one a rank for every draw; shards and partials
  // must fit the slot. A tensor that is only written may be a partial of a pack: its local tensors
  // are copies, since nothing reads them.
  LocalTensors& locals(int slot, const Placement& placement);
  std::span<Tensor> locals_of_draw(LocalTensors& locals, int draw);
  // The ranks' calls for these placements, shared by all that cut the tensors alike: for ops whose
  // calls do not depend on more.
  RankSet& shared_ranks(const RankPlacements& placements);
  const OwnedElements& owned(const Dims& shape, const Placement& placement);
  // How much of a dim of this length `rank` holds under a shard.
  int64_t owned_length(int64_t length, const Placement& shard, size_t rank) const;
  // Rounding allowed for `output`.
  const ErrorModel& error_model(int output) const { return models_[output]; }
  // True once two judged elements of `output` differed in any draw made so far.
  bool varies(int output) const { return varies_[output]; }
  // Kernels' faults are told as DataLoss; other statuses are ignored here.
  void note_fault(const Status& status);
  // The first fault noted, or an input that no longer is as it was drawn.
  Status fault() const;

 private:
  DrawKind kind_of(int number, int slot) const;
  int large_slot(int number) const;
  bool may_wrap(DType dtype, DrawKind kind) const;
  void note_variation(int output, const Truth& truth);
  std::vector<Tensor> make_locals(int draw, int slot, const Placement& placement);

  const Subject* subject_;
  int64_t world_;
  bool wraps_;
  uint64_t key_;
  std::vector<double> constants_;
  double largest_constant_ = 0;
  int integer_power_ = 64;  // see large_power_of_integers
  Status fault_;
  std::vector<ErrorModel> models_;
  std::vector<bool> varies_;
  std::vector<std::optional<double>> first_values_;
  std::vector<std::unique_ptr<Draw>> draws_;
  std::map<std::pair<int, Placement>, LocalTensors> locals_;
  absl::flat_hash_map<Cuts, std::unique_ptr<RankSet>> rank_sets_;
  std::map<std::pair<Dims, Placement>, OwnedElements> owned_;
};

// A shard names a dim of the shape whose length is not 1: on such a dim S means R and is not tried.
bool is_splittable(const Placement& placement, const Dims& shape);
// Every rank owns equally much.
bool divides(const Placement& placement, const Dims& shape, int64_t world);

}  // namespace onedim
