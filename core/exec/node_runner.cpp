#include "core/exec/node_runner.hpp"

#include <algorithm>

namespace onedim {

NodeRunner::NodeRunner(const GraphTask& task, const RankSite& site, const Roofline* roofline)
    : task_(task), site_(site), roofline_(roofline) {}

std::string NodeRunner::where(int node) const {
  return fmt::format("{}, the local call of {}", node_text(task_.graph().nodes[node]),
                     describe_rank(task_.mesh(), site_.communicator->rank()));
}

Result<LocalCall> NodeRunner::local_call(int node) const {
  const ResolvedNode& resolved = task_.resolved->nodes[node];
  const NodeStrategy& strategy = task_.solution->nodes[node];
  Result<LocalCall> local = make_local_call(
      *resolved.op, resolved.call, resolved.outputs, strategy.inputs, strategy.outputs,
      task_.mesh(), task_.mesh().coordinate_of(site_.communicator->rank()), task_.tags[node]);
  if (!local.ok()) return annotate(local.status(), where(node));
  if (!local->matches_layouts) {
    return invalid_argument("{}: the outputs that it infers are not those of the layouts",
                            where(node));
  }
  return local;
}

// The same call on inputs that lie as they do.
Result<LocalCall> NodeRunner::with_strides(int node, std::span<Tensor* const> inputs) const {
  Result<LocalCall> local = local_call(node);
  if (!local.ok()) return local;
  const Op& op = *task_.resolved->nodes[node].op;
  bool is_row_major = true;
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    if (inputs[slot] == nullptr || inputs[slot]->meta() == *local->call.inputs[slot]) continue;
    is_row_major = false;
    local->call.inputs[slot] = inputs[slot]->meta();
  }
  if (is_row_major) return local;
  const std::vector<OptionalOutput> before = std::move(local->outputs);
  Result<std::vector<OptionalOutput>> outputs = op.infer(local->call, &local->location);
  if (!outputs.ok()) return outputs.status();
  local->outputs = *std::move(outputs);
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] && before[i]->meta.shape != local->outputs[i]->meta.shape)
      return invalid_argument("{}: output {} depends on the strides of inputs", where(node), i);
  }
  Status status = op.accept_local(local->call, local->outputs, &local->location);
  if (!status.ok()) return status;
  return local;
}

void NodeRunner::copy_strided(int node, std::vector<Tensor*>& inputs, std::vector<Tensor>& copies) {
  const std::string& name = task_.graph().nodes[node].name;
  copies.reserve(inputs.size());
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    if (inputs[slot] == nullptr || inputs[slot]->meta().is_contiguous()) continue;
    TraceSpan span;
    span.name = "make_contiguous";
    span.category = "compute";
    span.cause = fmt::format("{}, input {}", name, slot);
    span.start_us = site_.clock->us();
    site_.memory->set_cause(span.cause + ", make_contiguous");
    const TensorMeta& meta = inputs[slot]->meta();
    copies.push_back(
        site_.memory->make(TensorMeta::contiguous(meta.dtype, meta.shape), BufferUse::kTarget));
    copy_elements(*inputs[slot], copies.back());
    inputs[slot] = &copies.back();
    span.us = site_.clock->us() - span.start_us;
    site_.trace->spans.push_back(std::move(span));
  }
}

Result<LocalCall> NodeRunner::call_for(int node, std::vector<Tensor*>& inputs,
                                       std::vector<Tensor>& copies) {
  Result<LocalCall> local = with_strides(node, inputs);
  if (local.ok() || task_.writes[node]) return local;
  copy_strided(node, inputs, copies);
  return copies.empty() ? local : local_call(node);
}

TraceSpan NodeRunner::start_span(int node) const {
  TraceSpan span;
  span.name = task_.resolved->nodes[node].op->name();
  span.category = "compute";
  span.cause = task_.graph().nodes[node].name;
  span.start_us = site_.clock->us();
  return span;
}

void NodeRunner::end_span(TraceSpan span, int node, const LocalCall& local) {
  span.us = site_.clock->us() - span.start_us;
  for (const OptionalMeta& meta : local.call.inputs) span.bytes += meta ? meta->bytes() : 0;
  for (const OptionalOutput& output : local.outputs) {
    if (output && output->view_of_input < 0) span.bytes += output->meta.bytes();
  }
  if (roofline_ != nullptr) {
    const ResolvedNode& resolved = task_.resolved->nodes[node];
    const SelectSubject subject{*resolved.op, resolved.call, resolved.outputs, {}, task_.mesh()};
    const Result<int64_t> ps = ComputeTime(subject, *roofline_).of(local);
    if (ps.ok()) span.predicted_us = static_cast<double>(*ps) / 1e6;
  }
  site_.trace->spans.push_back(std::move(span));
}

Result<NodeOutputs> NodeRunner::run(int node, std::span<Tensor* const> given) {
  const Op& op = *task_.resolved->nodes[node].op;
  std::vector<Tensor*> inputs(given.begin(), given.end());
  std::vector<Tensor> copies;
  const Result<LocalCall> local = call_for(node, inputs, copies);
  if (!local.ok()) return local.status();
  Result<std::unique_ptr<PreparedCompute>> compute =
      PreparedCompute::create(op, local->call, local->outputs, &local->location);
  if (!compute.ok()) return annotate(compute.status(), where(node));
  NodeOutputs made;
  made.tensors.resize(local->outputs.size());
  std::vector<Tensor*> outputs(local->outputs.size(), nullptr);
  bool is_copy_used = false;
  site_.memory->set_cause(task_.graph().nodes[node].name);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OptionalOutput& described = local->outputs[i];
    if (!described) continue;
    outputs[i] = &made.tensors[i];
    if (described->view_of_input >= 0) {
      const Tensor& source = *inputs[described->view_of_input];
      made.tensors[i] = source.view(described->meta, described->storage_offset);
      is_copy_used |= source.data() != given[described->view_of_input]->data();
      continue;
    }
    made.tensors[i] = Tensor::uninitialized(described->meta);
    site_.memory->note(made.tensors[i], fmt::format("output {}", i));
    made.owned.push_back(made.tensors[i]);
  }
  TraceSpan span = start_span(node);
  if (Status status = (*compute)->run(inputs, outputs); !status.ok())
    return annotate(status, where(node));
  end_span(std::move(span), node, *local);
  site_.memory->set_cause(task_.graph().nodes[node].name);
  for (const Tensor& copy : copies) {
    const bool is_used = is_copy_used && std::any_of(made.tensors.begin(), made.tensors.end(),
                                                     [&](const Tensor& tensor) {
                                                       return tensor.shares_storage_with(copy);
                                                     });
    if (is_used)
      made.owned.push_back(copy);
    else
      site_.memory->release(copy);
  }
  return made;
}

Result<std::unique_ptr<RankCall>> NodeRunner::run_joint(int node, std::span<Tensor* const> inputs) {
  Result<LocalCall> local = local_call(node);
  if (!local.ok()) return local.status();
  Result<std::unique_ptr<RankCall>> call =
      RankCall::create(*task_.resolved->nodes[node].op, *std::move(local));
  if (!call.ok()) return annotate(call.status(), where(node));
  const std::vector<Layout>& layouts = task_.solution->nodes[node].outputs;
  const bool has_own_outputs =
      std::any_of(layouts.begin(), layouts.end(), [](const Layout& layout) {
        return std::none_of(layout.placements.begin(), layout.placements.end(), is_joint);
      });
  const bool makes_states =
      std::any_of(task_.groups[node].begin(), task_.groups[node].end(),
                  [](const JointGroup& group) { return !group.kind->has_local(); });
  if (!has_own_outputs && !makes_states) return call;
  TraceSpan span = start_span(node);
  if (Status status = (*call)->run(inputs); !status.ok()) return annotate(status, where(node));
  end_span(std::move(span), node, (*call)->local());
  return call;
}

}  // namespace onedim
