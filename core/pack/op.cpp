#include "core/pack/op.hpp"

#include <algorithm>

#include "core/pack/abi_bridge.hpp"
#include "core/pack/host_table.hpp"
#include "core/pack/infer_check.hpp"
#include "core/pack/prepared_call.hpp"
#include "core/pack/unwritten.hpp"
#include "core/pack/variant.hpp"

namespace onedim {
namespace {

Status contract_fault(const Op& op, std::string_view callback, const Status& fault) {
  return absl::InternalError(
      fmt::format("{}: {} of pack {} emitted {}", op.name(), callback, op.pack, message_of(fault)));
}

// Makes one callback that fills `sink`.
template <typename Invoke>
Status fill(const Op& op, std::string_view callback, Sink& sink, Invoke invoke) {
  CallbackScope scope;
  const int32_t code = invoke();
  if (!sink.fault.ok()) return contract_fault(op, callback, sink.fault);
  return scope.finish(code, op.name(), callback, op.pack);
}

// The input slots of a table's rule are the schema's tensors. Where the call has a number for one,
// the rule holds if it says R there.
bool drop_numbers(const Call& call, Rule& rule) {
  if (rule.inputs.size() == call.inputs.size()) return true;
  std::vector<Placement> inputs;
  size_t slot = 0;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.schema->arguments[i];
    if (!argument.is_tensor()) continue;
    const size_t count = call.arguments[i].first < 0 ? 1 : call.arguments[i].count;
    if (slot + count > rule.inputs.size()) return false;
    if (call.arguments[i].first < 0) {
      if (!rule.inputs[slot].is_replicate()) return false;
    } else {
      inputs.insert(inputs.end(), rule.inputs.begin() + slot, rule.inputs.begin() + slot + count);
    }
    slot += count;
  }
  if (slot != rule.inputs.size() || !rule.requirements.empty()) return false;
  rule.inputs = std::move(inputs);
  return true;
}

enum class Fit { kYes, kNotHere, kFault };

// Sets absent slots to `-` and judges the others: `-` for a tensor that is there, dims it does not
// have.
Fit fit_placement(const TensorMeta* meta, Placement& placement) {
  if (meta == nullptr) {
    placement = Placement::none();
    return Fit::kYes;
  }
  if (placement.is_none()) return Fit::kNotHere;
  if (!placement.is_shard()) return Fit::kYes;
  return placement.dim < static_cast<int>(meta->shape.size()) ? Fit::kYes : Fit::kNotHere;
}

Fit fit_rule(const Call& call, std::span<const OptionalOutput> outputs, Rule& rule) {
  if (rule.inputs.size() != call.inputs.size() || rule.outputs.size() != outputs.size())
    return Fit::kFault;
  Fit worst = Fit::kYes;
  for (size_t i = 0; i < rule.inputs.size(); ++i) {
    const OptionalMeta& meta = call.inputs[i];
    worst = std::max(worst, fit_placement(meta ? &*meta : nullptr, rule.inputs[i]));
  }
  for (size_t i = 0; i < rule.outputs.size(); ++i) {
    worst =
        std::max(worst, fit_placement(outputs[i] ? &outputs[i]->meta : nullptr, rule.outputs[i]));
  }
  for (const Requirement& requirement : rule.requirements) {
    const TensorMeta* meta =
        requirement.is_output
            ? (outputs[requirement.slot] ? &outputs[requirement.slot]->meta : nullptr)
            : (call.inputs[requirement.slot] ? &*call.inputs[requirement.slot] : nullptr);
    if (meta == nullptr || requirement.dim >= static_cast<int>(meta->shape.size()))
      worst = Fit::kFault;
  }
  return worst;
}

Status rule_fault(const Op& op, const Call& call, std::span<const OptionalOutput> outputs,
                  const Rule& rule) {
  return absl::InternalError(
      fmt::format("{}: rules of pack {} emitted \"{}\", which does not fit the call \"{}\" with {} "
                  "outputs and {} input "
                  "slots, by number of slots or by a dim or requirement that they do not have",
                  op.name(), op.pack, format_rule(rule), format_call(call, {}), outputs.size(),
                  call.inputs.size()));
}

Result<std::vector<Rule>> plain_rules(const Op& op, const Call& call,
                                      std::span<const OptionalOutput> outputs) {
  std::vector<Rule> rules;
  for (Rule rule : op.rule_table) {  // a copy, which is fitted to the call
    if (drop_numbers(call, rule) && fit_rule(call, outputs, rule) == Fit::kYes)
      rules.push_back(std::move(rule));
  }
  if (op.rules_fn == nullptr) return rules;
  const AbiCall abi(call, outputs, nullptr);
  Sink sink;
  Status status = fill(op, "rules", sink, [&] {
    return op.rules_fn(&host_table(), op.user, abi.get(), to_abi(&sink));
  });
  if (!status.ok()) return status;
  for (Rule& rule : sink.rules) {
    if (fit_rule(call, outputs, rule) != Fit::kYes) return rule_fault(op, call, outputs, rule);
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::vector<Rule>> variant_rules(const Op& op, const Call& call,
                                        std::span<const OptionalOutput> outputs) {
  if (op.is_list_form())
    return std::vector<Rule>();  // what its elements' declare, closed, combines
  const Result<std::vector<PlainCall>> plain = plain_calls(op, call);
  if (!plain.ok()) return plain.status();
  Result<std::vector<Rule>> rules = plain_rules(*op.plain, plain->front().call, outputs);
  if (!rules.ok()) return rules;
  const std::vector<int> written = written_slots(op, call);
  std::erase_if(*rules, [&](Rule& rule) {
    return !rule_of_variant(plain->front(), written, call.inputs.size(), rule);
  });
  return rules;
}

// The output of a whole run: the written tensor, a view of an input, or new.
Result<std::optional<Tensor>> make_output(const Op& op, const OptionalOutput& output,
                                          std::span<Tensor* const> inputs) {
  if (!output) return std::optional<Tensor>();
  if (output->view_of_input >= 0) {
    return std::optional(inputs[output->view_of_input]->view(output->meta, output->storage_offset));
  }
  if (Status status = check_allocatable(output->meta); !status.ok())
    return annotate(status, op.name());
  return std::optional(Tensor::uninitialized(output->meta));
}

// Beyond this many bytes outputs are not searched for what the kernel left unwritten.
constexpr int64_t kMostSearchedBytes = int64_t{1} << 20;

// Runs the kernel over new outputs that are marked first; where it also writes an input, it cannot
// be run again, and where they are large, they are not searched.
Status run_on_new(const Op& op, PreparedCompute& compute, std::span<const OptionalOutput> metas,
                  std::span<Tensor* const> inputs, std::span<Tensor* const> outputs) {
  std::vector<Tensor*> marked(outputs.begin(), outputs.end());
  int64_t bytes = 0;
  bool writes_input = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!metas[i]) continue;
    if (metas[i]->view_of_input >= 0) {
      marked[i] = nullptr;
      writes_input = true;
    } else {
      bytes += metas[i]->meta.bytes();
    }
  }
  if (!writes_input && bytes <= kMostSearchedBytes)
    return run_marked(op.name(), marked, [&] { return compute.run(inputs, outputs); });
  for (Tensor* output : marked) {
    if (output != nullptr) mark_unwritten(*output);
  }
  return compute.run(inputs, outputs);
}

Result<Call> call_on_tensors(const Op& op, const Call& call, std::span<Tensor* const> inputs) {
  if (inputs.size() != call.inputs.size()) {
    return invalid_argument("{}: {} tensors for {} input slots", op.name(), inputs.size(),
                            call.inputs.size());
  }
  Call result = call;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if ((inputs[i] != nullptr) != call.inputs[i].has_value()) {
      return invalid_argument("{}: input slot {} is {}, but the call says {}", op.name(), i,
                              inputs[i] == nullptr ? "absent" : "given",
                              call.inputs[i] ? format_meta(*call.inputs[i]) : "absent");
    }
    if (inputs[i] != nullptr) result.inputs[i] = inputs[i]->meta();
  }
  return result;
}

}  // namespace

const Kernel* Op::find_kernel(int device) const {
  if (plain != nullptr) return plain->find_kernel(device);
  for (const Kernel& kernel : kernels) {
    if (kernel.device == device) return &kernel;
  }
  return nullptr;
}

Result<std::vector<OptionalOutput>> Op::infer(const Call& call, const Location* location) const {
  if (plain != nullptr) return infer_variant(*this, call, location);
  const AbiCall abi(call, {}, told(location));
  Sink sink;
  Status status = fill(*this, "infer", sink,
                       [&] { return infer_fn(&host_table(), user, abi.get(), to_abi(&sink)); });
  if (!status.ok()) return status;
  status = check_outputs(schema, call, sink.outputs);
  if (!status.ok()) return contract_fault(*this, "infer", status);
  return std::move(sink.outputs);
}

Result<std::vector<Rule>> Op::declared_rules(const Call& call,
                                             std::span<const OptionalOutput> outputs) const {
  return plain == nullptr ? plain_rules(*this, call, outputs) : variant_rules(*this, call, outputs);
}

Status Op::accept_local(const Call& call, std::span<const OptionalOutput> outputs,
                        const Location* location) const {
  if (plain != nullptr) {
    const Result<std::vector<PlainCall>> plains = plain_calls(*this, call);
    if (!plains.ok()) return plains.status();
    for (const PlainCall& one : *plains) {
      std::optional<Location> place;
      if (location != nullptr) place = location_of_plain(*location, one);
      const Status status =
          plain->accept_local(one.call, outputs_of_plain(one, outputs), place ? &*place : nullptr);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  if (accept_fn == nullptr) return absl::OkStatus();
  const AbiCall abi(call, outputs, told(location));
  CallbackScope scope;
  return scope.finish(accept_fn(&host_table(), user, abi.get()), name(), "accept_local", pack);
}

Result<std::optional<CallCost>> Op::cost(const Call& call, std::span<const OptionalOutput> outputs,
                                         const Location* location) const {
  if (plain != nullptr) {
    const Result<std::vector<PlainCall>> plains = plain_calls(*this, call);
    if (!plains.ok()) return plains.status();
    std::optional<CallCost> sum(CallCost{});
    for (const PlainCall& one : *plains) {
      std::optional<Location> place;
      if (location != nullptr) place = location_of_plain(*location, one);
      const Result<std::optional<CallCost>> own =
          plain->cost(one.call, outputs_of_plain(one, outputs), place ? &*place : nullptr);
      if (!own.ok() || !*own) return own;
      sum->flops += (*own)->flops;
      sum->bytes += (*own)->bytes;
    }
    return sum;
  }
  if (cost_fn == nullptr) return std::optional<CallCost>();
  const AbiCall abi(call, outputs, told(location));
  onedim_cost_t cost{};
  cost.struct_size = sizeof(cost);
  CallbackScope scope;
  const int32_t code = cost_fn(&host_table(), user, abi.get(), &cost);
  if (Status status = scope.finish(code, name(), "cost", pack); !status.ok()) return status;
  if (!(cost.flops >= 0) || !(cost.bytes >= 0)) {
    return absl::InternalError(fmt::format("{}: cost of pack {} gave {} flops and {} bytes", name(),
                                           pack, cost.flops, cost.bytes));
  }
  return std::optional(CallCost{cost.flops, cost.bytes});
}

Result<std::vector<std::string>> Op::samples() const {
  if (plain != nullptr) return samples_of_variant(*this);
  if (samples_fn == nullptr) return sample_table;
  Sink sink;
  Status status =
      fill(*this, "samples", sink, [&] { return samples_fn(&host_table(), user, to_abi(&sink)); });
  if (!status.ok()) return status;
  sink.samples.insert(sink.samples.begin(), sample_table.begin(), sample_table.end());
  return std::move(sink.samples);
}

Status Op::compute(const Call& call, std::span<Tensor* const> inputs,
                   std::span<Tensor* const> outputs, const Location* location,
                   int thread_count) const {
  Result<std::vector<OptionalOutput>> inferred = infer(call, location);
  if (!inferred.ok()) return inferred.status();
  Result<std::unique_ptr<PreparedCompute>> prepared =
      PreparedCompute::create(*this, call, *inferred, location, thread_count);
  if (!prepared.ok()) return prepared.status();
  return (*prepared)->run(inputs, outputs);
}

Result<std::vector<std::optional<Tensor>>> run_op(const Op& op, const Call& call,
                                                  std::span<Tensor* const> inputs) {
  Result<Call> actual = call_on_tensors(op, call, inputs);
  if (!actual.ok()) return actual.status();
  Result<std::vector<OptionalOutput>> metas = op.infer(*actual);
  if (!metas.ok()) return metas.status();
  std::vector<std::optional<Tensor>> outputs;
  for (const OptionalOutput& meta : *metas) {
    Result<std::optional<Tensor>> output = make_output(op, meta, inputs);
    if (!output.ok()) return output.status();
    outputs.push_back(*std::move(output));
  }
  std::vector<Tensor*> targets;
  for (std::optional<Tensor>& output : outputs) targets.push_back(output ? &*output : nullptr);
  Result<std::unique_ptr<PreparedCompute>> prepared =
      PreparedCompute::create(op, *actual, *metas, nullptr);
  if (!prepared.ok()) return prepared.status();
  if (Status status = run_on_new(op, **prepared, *metas, inputs, targets); !status.ok())
    return status;
  return outputs;
}

}  // namespace onedim
