#include "core/pack/partial_kind.hpp"

#include "core/pack/abi_bridge.hpp"
#include "core/pack/host_table.hpp"
#include "core/pack/infer_check.hpp"

namespace onedim {
namespace {

std::vector<onedim_tensor_t> to_abi_list(std::span<const Tensor> tensors) {
  std::vector<onedim_tensor_t> list;
  list.reserve(tensors.size());
  for (const Tensor& tensor : tensors) list.push_back(to_abi(tensor));
  return list;
}

Status check_states(const PartialKind& kind, size_t count) {
  if (count == kind.components.size()) return absl::OkStatus();
  return invalid_argument("partial kind {}: {} states given, but it has {}", kind.name, count,
                          kind.components.size());
}

Status check_emitted(const PartialKind& kind, const Sink& sink) {
  if (!sink.fault.ok()) return sink.fault;
  if (Status status = check_states(kind, sink.outputs.size()); !status.ok()) return status;
  for (size_t i = 0; i < sink.outputs.size(); ++i) {
    const OptionalOutput& state = sink.outputs[i];
    if (!state || state->view_of_input != -1) {
      return invalid_argument("state {} must be a tensor of its own", kind.components[i]);
    }
    if (!state->meta.is_contiguous())
      return invalid_argument("state {} must be row-major", kind.components[i]);
  }
  return absl::OkStatus();
}

}  // namespace

Result<std::vector<TensorMeta>> PartialKind::state_metas(const Call& call,
                                                         std::span<const OptionalOutput> outputs,
                                                         const Location* location) const {
  std::vector<TensorMeta> metas;
  Sink sink;
  if (state_fn == nullptr) {
    sink.outputs.assign(outputs.begin(), outputs.end());
    for (OptionalOutput& output : sink.outputs) {
      if (output) *output = {TensorMeta::contiguous(output->meta.dtype, output->meta.shape), -1, 0};
    }
    if (Status status = check_emitted(*this, sink); !status.ok()) return status;
  } else {
    const AbiCall abi(call, outputs, location);
    CallbackScope scope;
    const int32_t code = state_fn(&host_table(), user, abi.get(), to_abi(&sink));
    if (Status status = scope.finish(code, name, "state", pack); !status.ok()) return status;
    if (Status status = check_emitted(*this, sink); !status.ok()) {
      return absl::InternalError(
          fmt::format("{}: state of pack {} emitted {}", name, pack, message_of(status)));
    }
  }
  for (OptionalOutput& state : sink.outputs) metas.push_back(std::move(state->meta));
  return metas;
}

Status PartialKind::local(const Call& call, std::span<Tensor* const> inputs,
                          const Location* location, std::span<Tensor> states) const {
  if (local_fn == nullptr)
    return invalid_argument("partial kind {}: its state is what the op's kernel writes", name);
  if (Status status = check_states(*this, states.size()); !status.ok()) return status;
  if (inputs.size() != call.inputs.size()) {
    return invalid_argument("partial kind {}: {} tensors for {} input slots", name, inputs.size(),
                            call.inputs.size());
  }
  AbiCall abi(call, {}, location);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) abi.bind_input(static_cast<int>(i), *inputs[i]);
  }
  const std::vector<onedim_tensor_t> list = to_abi_list(states);
  CallbackScope scope;
  return scope.finish(local_fn(&host_table(), user, abi.get(), list.data()), name, "local", pack);
}

Status PartialKind::identity(std::span<Tensor> states) const {
  if (Status status = check_states(*this, states.size()); !status.ok()) return status;
  const std::vector<onedim_tensor_t> list = to_abi_list(states);
  CallbackScope scope;
  return scope.finish(identity_fn(&host_table(), user, list.data()), name, "identity", pack);
}

Status PartialKind::combine(std::span<Tensor> into, std::span<const Tensor> from) const {
  if (Status status = check_states(*this, into.size()); !status.ok()) return status;
  if (Status status = check_states(*this, from.size()); !status.ok()) return status;
  for (size_t i = 0; i < into.size(); ++i) {
    if (into[i].shape() == from[i].shape() && into[i].dtype() == from[i].dtype()) continue;
    return invalid_argument("partial kind {}: state {} is {} on one side and {} on the other", name,
                            components[i], format_meta(into[i].meta()),
                            format_meta(from[i].meta()));
  }
  const std::vector<onedim_tensor_t> into_list = to_abi_list(into);
  const std::vector<onedim_tensor_t> from_list = to_abi_list(from);
  CallbackScope scope;
  return scope.finish(combine_fn(&host_table(), user, into_list.data(), from_list.data()), name,
                      "combine", pack);
}

Status PartialKind::finish(std::span<const Tensor> states, std::span<Tensor> outputs) const {
  if (Status status = check_states(*this, states.size()); !status.ok()) return status;
  if (outputs.size() != static_cast<size_t>(output_count)) {
    return invalid_argument("partial kind {}: {} outputs given, but its group has {}", name,
                            outputs.size(), output_count);
  }
  if (finish_fn == nullptr) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (states[i].shape() != outputs[i].shape() || states[i].dtype() != outputs[i].dtype()) {
        return invalid_argument("partial kind {}: state {} is {}, its output {}", name,
                                components[i], format_meta(states[i].meta()),
                                format_meta(outputs[i].meta()));
      }
      copy_elements(states[i], outputs[i]);
    }
    return absl::OkStatus();
  }
  const std::vector<onedim_tensor_t> state_list = to_abi_list(states);
  const std::vector<onedim_tensor_t> output_list = to_abi_list(outputs);
  CallbackScope scope;
  return scope.finish(finish_fn(&host_table(), user, state_list.data(), output_list.data()), name,
                      "finish", pack);
}

}  // namespace onedim
