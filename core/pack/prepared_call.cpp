#include "core/pack/prepared_call.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/pack/foreign_call.hpp"
#include "core/pack/host_table.hpp"
#include "core/pack/infer_check.hpp"
#include "core/pack/variant.hpp"

namespace onedim {
namespace {

constexpr uint64_t kWorkspaceAlignment = 64;
constexpr uint64_t kMaxWorkspaceBytes = uint64_t{1} << 40;

std::string dtype_names(uint64_t mask) {
  std::string names;
  for (int dtype = 0; dtype < kDTypeCount; ++dtype) {
    if ((mask >> dtype & 1) == 0) continue;
    names += (names.empty() ? "" : " ") + std::string(name_of(static_cast<DType>(dtype)));
  }
  return names;
}

template <typename T>
std::shared_ptr<const T> kept(const T& value, bool copies) {
  if (copies) return std::make_shared<const T>(value);
  return {std::shared_ptr<const T>(), &value};  // owns nothing
}

}  // namespace

PreparedCompute::PreparedCompute(const Op& op, const Call& call,
                                 std::span<const OptionalOutput> outputs, const Location* location,
                                 Keep keep)
    : op_(op),
      kernel_op_(op.plain != nullptr ? *op.plain : op),
      call_(kept(call, keep == Keep::kCopies)),
      outputs_(outputs.begin(), outputs.end()),
      input_count_(call.inputs.size()) {
  location = op.told(location);
  if (location != nullptr) location_ = kept(*location, keep == Keep::kCopies);
  for (size_t i = 0; i < input_count_; ++i) slots_.push_back(static_cast<int>(i));
}

Result<std::unique_ptr<PreparedCompute>> PreparedCompute::create(
    const Op& op, const Call& call, std::span<const OptionalOutput> outputs,
    const Location* location, int thread_count, Keep keep) {
  std::unique_ptr<PreparedCompute> prepared(new PreparedCompute(op, call, outputs, location, keep));
  if (op.is_list_form()) {
    if (Status status = prepared->prepare_elements(location, thread_count); !status.ok())
      return status;
    return prepared;
  }
  if (Status status = prepared->prepare_plain(); !status.ok()) return status;
  prepared->classify_outputs();
  prepared->abi_ =
      std::make_unique<AbiCall>(*prepared->call_, prepared->outputs_, prepared->location_.get());
  if (Status status = prepared->prepare_kernel(thread_count); !status.ok()) return status;
  return prepared;
}

Status PreparedCompute::prepare_elements(const Location* location, int thread_count) {
  const Result<std::vector<PlainCall>> plains = plain_calls(op_, *call_);
  if (!plains.ok()) return plains.status();
  for (const PlainCall& plain : *plains) {
    std::optional<Location> place;
    if (location != nullptr) place = location_of_plain(*location, plain);
    OptionalOutput output = outputs_[plain.element];
    if (output) output->view_of_input = -1;  // what the plain op computes is new
    Result<std::unique_ptr<PreparedCompute>> compute = create(
        *op_.plain, plain.call, std::span(&output, 1), place ? &*place : nullptr, thread_count);
    if (!compute.ok()) return compute.status();
    elements_.push_back({*std::move(compute), plain.slots, {}});
    elements_.back().inputs.resize(plain.slots.size());
  }
  return absl::OkStatus();
}

Status PreparedCompute::prepare_plain() {
  if (op_.plain == nullptr) return absl::OkStatus();
  Result<std::vector<PlainCall>> plain = plain_calls(op_, *call_);
  if (!plain.ok()) return plain.status();
  if (location_)
    location_ = std::make_shared<const Location>(location_of_plain(*location_, plain->front()));
  call_ = std::make_shared<const Call>(std::move(plain->front().call));
  slots_ = std::move(plain->front().slots);
  for (OptionalOutput& output : outputs_) {
    if (output) output->view_of_input = -1;  // what the plain op computes is new
  }
  return absl::OkStatus();
}

void PreparedCompute::classify_outputs() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i]) {
      kinds_.push_back(OutputKind::kAbsent);
    } else if (outputs_[i]->view_of_input < 0) {
      kinds_.push_back(OutputKind::kComputed);
    } else {
      const bool is_written = return_of_output(op_.schema, i, outputs_.size()).is_written;
      kinds_.push_back(is_written ? OutputKind::kWritten : OutputKind::kView);
    }
  }
  temporaries_.resize(outputs_.size());
}

Status PreparedCompute::prepare_kernel(int thread_count) {
  const bool has_views = std::count(kinds_.begin(), kinds_.end(), OutputKind::kView) > 0;
  const auto needs_kernel = [](OutputKind kind) {
    return kind == OutputKind::kComputed || kind == OutputKind::kWritten;
  };
  if (has_views && std::none_of(kinds_.begin(), kinds_.end(), needs_kernel))
    return absl::OkStatus();
  kernel_ = kernel_op_.find_kernel(ONEDIM_DEVICE_CPU);
  if (kernel_ == nullptr) return unimplemented("{}: no pack has a cpu kernel for it", op_.name());
  if (Status status = check_dtypes(); !status.ok()) return status;
  execution_.struct_size = sizeof(execution_);
  execution_.thread_count = std::max(thread_count, 1);
  execution_.device = ONEDIM_DEVICE_CPU;
  return ask_workspace();
}

Status PreparedCompute::check_dtypes() const {
  const auto check = [&](DType dtype) -> Status {
    if (kernel_->dtypes >> static_cast<int>(dtype) & 1) return absl::OkStatus();
    return unimplemented("{}: the cpu kernel of pack {} takes {}, not {}", op_.name(),
                         kernel_->pack, dtype_names(kernel_->dtypes), name_of(dtype));
  };
  bool has_input = false;
  for (const OptionalMeta& meta : call_->inputs) {
    if (!meta) continue;
    has_input = true;
    if (Status status = check(meta->dtype); !status.ok()) return status;
  }
  if (has_input) return absl::OkStatus();
  for (const OptionalOutput& output : outputs_) {
    if (!output) continue;
    if (Status status = check(output->meta.dtype); !status.ok()) return status;
  }
  return absl::OkStatus();
}

Status PreparedCompute::ask_workspace() {
  if (kernel_->workspace == nullptr) return absl::OkStatus();
  uint64_t bytes = 0;
  CallbackScope scope;
  const int32_t code = kernel_->workspace(&host_table(), kernel_->user, abi_->get(), &bytes);
  if (Status status = scope.finish(code, op_.name(), "workspace", kernel_->pack); !status.ok())
    return status;
  if (bytes == 0) return absl::OkStatus();
  if (bytes > kMaxWorkspaceBytes) {
    return absl::ResourceExhaustedError(
        fmt::format("{}: the kernel of pack {} asks for {} bytes of workspace", op_.name(),
                    kernel_->pack, bytes));
  }
  const uint64_t rounded =
      (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
  workspace_.reset(std::aligned_alloc(kWorkspaceAlignment, rounded));
  if (workspace_ == nullptr) {
    return absl::ResourceExhaustedError(
        fmt::format("{}: no memory for {} bytes of workspace", op_.name(), bytes));
  }
  execution_.workspace = workspace_.get();
  execution_.workspace_bytes = bytes;
  return absl::OkStatus();
}

Status PreparedCompute::mismatch(std::string_view side, size_t slot, const TensorMeta& expected,
                                 const Tensor* given) const {
  return invalid_argument("{}: {} {} is {}, but the call was prepared for {}", op_.name(), side,
                          slot, given == nullptr ? "absent" : format_meta(given->meta()),
                          format_meta(expected));
}

Status PreparedCompute::bind_inputs(std::span<Tensor* const> inputs) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const OptionalMeta& meta = call_->inputs[i];
    if (!meta) continue;
    const Tensor* tensor = inputs[slots_[i]];
    if (tensor == nullptr || tensor->dtype() != meta->dtype || tensor->shape() != meta->shape) {
      return mismatch("input", slots_[i], *meta, tensor);
    }
    abi_->bind_input(static_cast<int>(i), *tensor);
  }
  return absl::OkStatus();
}

bool PreparedCompute::is_input_storage(std::span<Tensor* const> inputs,
                                       const Tensor& tensor) const {
  return std::any_of(slots_.begin(), slots_.end(), [&](int slot) {
    return slot >= 0 && inputs[slot] != nullptr && inputs[slot]->shares_storage_with(tensor);
  });
}

Status PreparedCompute::bind_outputs(std::span<Tensor* const> inputs,
                                     std::span<Tensor* const> outputs) {
  to_copy_.clear();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (kinds_[i] == OutputKind::kAbsent) continue;
    const TensorMeta& meta = outputs_[i]->meta;
    Tensor* tensor = outputs[i];
    if (tensor == nullptr || tensor->dtype() != meta.dtype || tensor->shape() != meta.shape) {
      return mismatch("output", i, meta, tensor);
    }
    if (kinds_[i] == OutputKind::kWritten) bind_written(inputs, i, *tensor);
    const bool aliases = kinds_[i] == OutputKind::kComputed && is_input_storage(inputs, *tensor);
    if (aliases) {
      if (temporaries_[i].data() == nullptr) {
        temporaries_[i] = Tensor::uninitialized(TensorMeta::contiguous(meta.dtype, meta.shape));
      }
      to_copy_.push_back(i);
    }
    abi_->bind_output(static_cast<int>(i), aliases ? temporaries_[i] : *tensor);
  }
  return absl::OkStatus();
}

// An op that writes its argument works on the output given, which first takes the argument's
// values.
void PreparedCompute::bind_written(std::span<Tensor* const> inputs, size_t output, Tensor& tensor) {
  const int slot = outputs_[output]->view_of_input;
  if (inputs[slot]->data() == tensor.data()) return;
  copy_elements(*inputs[slot], tensor);
  abi_->bind_input(slot, tensor);
}

Status PreparedCompute::fill_views(std::span<Tensor* const> inputs,
                                   std::span<Tensor* const> outputs) const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (kinds_[i] != OutputKind::kView) continue;
    const OutputMeta& output = *outputs_[i];
    const Tensor& source = *inputs[output.view_of_input];
    if (source.strides() != call_->inputs[output.view_of_input]->strides) {
      return invalid_argument(
          "{}: output {} is a view of input {}, whose strides are {}, not {} as prepared",
          op_.name(), i, output.view_of_input, format_dims(source.strides()),
          format_dims(call_->inputs[output.view_of_input]->strides));
    }
    const Tensor view = source.view(output.meta, output.storage_offset);
    const bool is_there =
        outputs[i]->data() == view.data() && outputs[i]->strides() == view.strides();
    if (is_there || output.meta.element_count() == 0) continue;
    if (outputs[i]->shares_storage_with(source)) {
      return invalid_argument(
          "{}: output {} shares storage with input {} but is not the view of it that the "
          "op makes",
          op_.name(), i, output.view_of_input);
    }
    copy_elements(view, *outputs[i]);
  }
  return absl::OkStatus();
}

void PreparedCompute::set_identity(uint64_t seed, uint64_t call_id) {
  if (abi_ != nullptr) abi_->set_identity(seed, call_id);
  for (Element& element : elements_) element.compute->set_identity(seed, call_id);
}

Status PreparedCompute::run_elements(std::span<Tensor* const> inputs,
                                     std::span<Tensor* const> outputs) {
  for (size_t i = 0; i < elements_.size(); ++i) {
    Element& element = elements_[i];
    for (size_t slot = 0; slot < element.slots.size(); ++slot)
      element.inputs[slot] = element.slots[slot] < 0 ? nullptr : inputs[element.slots[slot]];
    if (Status status = element.compute->run(element.inputs, outputs.subspan(i, 1)); !status.ok())
      return annotate(status, fmt::format("{}: element {}", op_.name(), i));
  }
  return absl::OkStatus();
}

Status PreparedCompute::run(std::span<Tensor* const> inputs, std::span<Tensor* const> outputs) {
  if (inputs.size() != input_count_ || outputs.size() != outputs_.size()) {
    return invalid_argument("{}: {} inputs and {} outputs given, prepared for {} and {}",
                            op_.name(), inputs.size(), outputs.size(), input_count_,
                            outputs_.size());
  }
  if (!elements_.empty()) return run_elements(inputs, outputs);
  if (Status status = bind_inputs(inputs); !status.ok()) return status;
  if (Status status = bind_outputs(inputs, outputs); !status.ok()) return status;
  if (Status status = fill_views(inputs, outputs); !status.ok()) return status;
  if (kernel_ == nullptr) return absl::OkStatus();
  const ForeignCall running(kernel_->pack, "the kernel", op_.name());
  CallbackScope scope;
  const int32_t code = kernel_->compute(&host_table(), kernel_->user, abi_->get(), &execution_);
  if (code != ONEDIM_OK) return scope.finish(code, op_.name(), "compute", kernel_->pack);
  for (const size_t i : to_copy_) copy_elements(temporaries_[i], *outputs[i]);
  return absl::OkStatus();
}

}  // namespace onedim
