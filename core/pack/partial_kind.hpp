#pragma once
// PartialKind: a joint partial of a pack. Its state tensors are one value: made by `local` from a
// local call's inputs (or, without `local`, by the op's own kernel as its outputs), merged by
// `combine`, which is associative and commutative with `identity` neutral, and turned into the
// outputs of the group by `finish`. A rule names the group's outputs `P(pack.kind#0)`, `#1`, ...;
// all of them appear in one rule.

#include <string>
#include <vector>

#include "core/pack/op.hpp"

namespace onedim {

class PartialKind {
 public:
  // State metas of a local call whose outputs of the group are `outputs`.
  Result<std::vector<TensorMeta>> state_metas(const Call& call,
                                              std::span<const OptionalOutput> outputs,
                                              const Location* location) const;
  // True if the state is not the outputs of the group, but tensors that only state_metas knows.
  bool has_hidden_state() const { return state_fn != nullptr; }
  // True if the state is computed from the call's inputs, not by the op's kernel.
  bool has_local() const { return local_fn != nullptr; }
  Status local(const Call& call, std::span<Tensor* const> inputs, const Location* location,
               std::span<Tensor> states) const;
  Status identity(std::span<Tensor> states) const;
  Status combine(std::span<Tensor> into, std::span<const Tensor> from) const;
  Status finish(std::span<const Tensor> states, std::span<Tensor> outputs) const;

  std::string name;  // pack.kind
  uint32_t revision = 0;
  std::string pack;
  std::vector<std::string> components;
  int output_count = 1;
  void* user = nullptr;
  onedim_state_fn state_fn = nullptr;
  onedim_local_fn local_fn = nullptr;
  onedim_identity_fn identity_fn = nullptr;
  onedim_combine_fn combine_fn = nullptr;
  onedim_finish_fn finish_fn = nullptr;
};

}  // namespace onedim
