#pragma once
// ShardedOp: a call of an op under a strategy, as every rank of a run knows it: where its inputs
// lie, where they must lie, the plans in between, what rules were chosen, and what the op gives on
// whole tensors. Plain data; immutable while ranks run.

#include <memory>
#include <optional>

#include "core/pack/joint_group.hpp"
#include "core/redistribute/plan.hpp"

namespace onedim {

// What the op gives on whole tensors.
struct WholeResult {
  std::vector<std::optional<Tensor>> outputs;
  // Per output, sum|terms| of its elements as f64; null where that is not known.
  std::vector<std::optional<Tensor>> magnitudes;
  double roundings = 1;  // of an element, at most
};

struct ShardedOp {
  const Op* op = nullptr;              // borrowed, as is the registry
  const Registry* registry = nullptr;  // of the op's packs
  Call call;
  std::vector<OptionalOutput> outputs;  // of the whole call
  Mesh mesh = Mesh::line(1);
  std::vector<Layout> inputs;                      // per slot: what the local call gets
  std::vector<std::shared_ptr<const Plan>> plans;  // per slot: null where the input stays
  std::vector<Layout> output_layouts;
  std::vector<uint64_t> tags;  // per mesh dim
};

// Infers the outputs of `call`.
Result<ShardedOp> make_sharded_op(const Op& op, const Registry& registry, Call call,
                                  const Mesh& mesh);

// Runs the op on whole tensors, one a slot; inputs that it writes are copied first. Magnitudes are
// what the op gives on the inputs' absolute values, where it takes them and gives no less.
Result<WholeResult> run_whole(const ShardedOp& op, std::span<const std::optional<Tensor>> inputs);

// Raises the magnitudes to what the op's inner sums cancel, which neither its output nor its value
// on absolute inputs shows (a softmax's gradient is p (g - sum p g)): how far the output moves when
// every input element is moved by a small share of itself, up or down at random, over that share.
// It is at most sum|terms|, and nearly so for one of a few draws. Costs a few more runs of the op.
Status add_cancelled_terms(const ShardedOp& op, std::span<const std::optional<Tensor>> inputs,
                           WholeResult& whole);

}  // namespace onedim
