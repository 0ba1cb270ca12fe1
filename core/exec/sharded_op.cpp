#include "core/exec/sharded_op.hpp"

#include <algorithm>
#include <cmath>

#include "core/exec/comparison.hpp"
#include "core/pack/variant.hpp"

namespace onedim {
namespace {

constexpr uint64_t kDraws = 3;       // of directions in which inputs are moved
constexpr double kOwnRoundings = 8;  // of functions that an op is made of, beside its sums

Result<std::vector<std::optional<Tensor>>> run_copies(
    const ShardedOp& op, std::span<const std::optional<Tensor>> inputs) {
  std::vector<Tensor> tensors(inputs.size());
  std::vector<Tensor*> pointers(inputs.size(), nullptr);
  const std::vector<int> written = written_slots(*op.op, op.call);
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    if (!inputs[slot]) continue;
    const bool is_written =
        std::find(written.begin(), written.end(), static_cast<int>(slot)) != written.end();
    tensors[slot] = is_written ? inputs[slot]->clone() : *inputs[slot];
    pointers[slot] = &tensors[slot];
  }
  return run_op(*op.op, op.call, pointers);
}

bool rounds(const Tensor& tensor) {
  return is_floating(tensor.dtype()) || is_complex(tensor.dtype());
}

Tensor absolute(const Tensor& tensor) {
  Tensor result = tensor.clone();
  for (int64_t i = 0; i < result.element_count(); ++i) {
    const double size = std::abs(load_complex(result.dtype(), result.element(i)));
    store_complex(result.dtype(), result.element(i), size);
  }
  return result;
}

// The op on |inputs|, where it takes them; nothing where no output needs it.
std::vector<std::optional<Tensor>> run_absolute(const ShardedOp& op,
                                                std::span<const std::optional<Tensor>> inputs) {
  std::vector<std::optional<Tensor>> positive;
  for (const std::optional<Tensor>& input : inputs) {
    positive.push_back(input && rounds(*input) ? std::optional(absolute(*input)) : input);
  }
  Result<std::vector<std::optional<Tensor>>> outputs = run_copies(op, positive);
  if (!outputs.ok()) return std::vector<std::optional<Tensor>>(op.outputs.size());
  std::vector<std::optional<Tensor>> magnitudes;
  for (const std::optional<Tensor>& output : *outputs) {
    magnitudes.push_back(output && rounds(*output) ? std::optional(magnitudes_of(*output))
                                                   : std::nullopt);
  }
  return magnitudes;
}

// Every element by `share` of itself, up or down.
Tensor moved_by(const Tensor& tensor, double share, uint64_t key) {
  Tensor result = tensor.clone();
  uint64_t state = key * 0x9e3779b97f4a7c15u;
  for (int64_t i = 0; i < result.element_count(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth, MMIX
    const double factor = (state >> 63) != 0 ? 1 + share : 1 - share;
    const std::complex<double> value = load_complex(result.dtype(), result.element(i));
    store_complex(result.dtype(), result.element(i), value * factor);
  }
  return result;
}

void raise_magnitudes(const Tensor& before, const Tensor& behind, double share,
                      Tensor& magnitudes) {
  for (int64_t i = 0; i < magnitudes.element_count(); ++i) {
    const double distance = std::abs(load_complex(before.dtype(), before.element(i)) -
                                     load_complex(behind.dtype(), behind.element(i)));
    const double known = load_real(DType::kF64, magnitudes.element(i));
    if (std::isfinite(distance) && distance > known * share)
      store_real(DType::kF64, magnitudes.element(i), distance / share);
  }
}

// How many values an element of the outputs is made of: by the pack's own count, else by sizes.
double terms_per_element(const ShardedOp& op) {
  double inputs = 0, outputs = 1;
  for (const OptionalMeta& meta : op.call.inputs) {
    if (meta) inputs += static_cast<double>(meta->element_count());
  }
  for (const OptionalOutput& output : op.outputs) {
    if (output) outputs = std::max(outputs, static_cast<double>(output->meta.element_count()));
  }
  const Result<std::optional<CallCost>> cost = op.op->cost(op.call, op.outputs);
  const double flops = cost.ok() && *cost ? (*cost)->flops : 0;
  return std::max(inputs / outputs, flops / outputs);
}

}  // namespace

Status add_cancelled_terms(const ShardedOp& op, std::span<const std::optional<Tensor>> inputs,
                           WholeResult& whole) {
  double most_epsilon = 0;
  for (const std::optional<Tensor>& output : whole.outputs) {
    if (output && rounds(*output))
      most_epsilon = std::max(most_epsilon, epsilon_of(output->dtype()));
  }
  if (most_epsilon == 0) return absl::OkStatus();
  // Between rounding and what bends the op: the root of the epsilon.
  const double share = std::exp2(std::round(std::log2(most_epsilon) / 2));
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    std::vector<std::optional<Tensor>> moved;
    for (const std::optional<Tensor>& input : inputs) {
      moved.push_back(input);
      if (!input || !rounds(*input)) continue;
      const double finer = std::min(epsilon_of(input->dtype()) / most_epsilon, 1.0);
      moved.back() = moved_by(*input, share * finer, draw * inputs.size() + moved.size());
    }
    const Result<std::vector<std::optional<Tensor>>> outputs = run_copies(op, moved);
    if (!outputs.ok()) return outputs.status();
    for (size_t i = 0; i < outputs->size(); ++i) {
      const std::optional<Tensor>& expected = whole.outputs[i];
      if (!expected || !rounds(*expected)) continue;
      if (!whole.magnitudes[i]) whole.magnitudes[i] = magnitudes_of(*expected);
      raise_magnitudes(*expected, *(*outputs)[i], share, *whole.magnitudes[i]);
    }
  }
  return absl::OkStatus();
}

Result<ShardedOp> make_sharded_op(const Op& op, const Registry& registry, Call call,
                                  const Mesh& mesh) {
  ShardedOp made;
  made.op = &op;
  made.registry = &registry;
  made.mesh = mesh;
  Result<std::vector<OptionalOutput>> outputs = op.infer(call);
  if (!outputs.ok()) return outputs.status();
  made.outputs = *std::move(outputs);
  made.call = std::move(call);
  return made;
}

Result<WholeResult> run_whole(const ShardedOp& op, std::span<const std::optional<Tensor>> inputs) {
  WholeResult whole;
  Result<std::vector<std::optional<Tensor>>> outputs = run_copies(op, inputs);
  if (!outputs.ok()) return annotate(outputs.status(), "on whole tensors");
  whole.outputs = *std::move(outputs);
  whole.magnitudes = run_absolute(op, inputs);
  whole.roundings =
      terms_per_element(op) + static_cast<double>(op.mesh.rank_count()) + kOwnRoundings;
  return whole;
}

}  // namespace onedim
