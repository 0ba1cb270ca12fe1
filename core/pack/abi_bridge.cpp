#include "core/pack/abi_bridge.hpp"

#include "core/pack/abi_read.hpp"

namespace onedim {
namespace {

thread_local CallbackScope* current_scope = nullptr;

onedim_tensor_t describe(const TensorMeta& meta) {
  onedim_tensor_t tensor{};
  tensor.struct_size = sizeof(tensor);
  tensor.present = 1;
  tensor.dtype = static_cast<int32_t>(meta.dtype);
  tensor.device = ONEDIM_DEVICE_CPU;
  tensor.ndim = static_cast<int32_t>(meta.shape.size());
  tensor.shape = meta.shape.data();
  tensor.strides = meta.strides.data();
  return tensor;
}

onedim_tensor_t absent() {
  onedim_tensor_t tensor{};
  tensor.struct_size = sizeof(tensor);
  return tensor;
}

// How many elements the C form of a location has, so that it can be made in few allocations.
struct LocationSize {
  size_t slots = 0, intervals = 0, begins = 0, placements = 0;

  explicit LocationSize(const Location& location) {
    for (const std::vector<SlotLocation>* side : {&location.inputs, &location.outputs}) {
      for (const SlotLocation& slot : *side) add(slot);
    }
  }
  void add(const SlotLocation& slot) {
    ++slots;
    for (const Intervals& dim : slot.map.dims) intervals += dim.size();
    begins += slot.map.dims.size() + 1;
    placements += slot.placements.size();
  }
};

Status status_of_code(int32_t code, std::string_view message) {
  const absl::string_view text(message.data(), message.size());
  switch (code) {
    case ONEDIM_STATUS_INVALID_ARGUMENT:
      return absl::InvalidArgumentError(text);
    case ONEDIM_STATUS_UNIMPLEMENTED:
      return absl::UnimplementedError(text);
    case ONEDIM_STATUS_FAILED_PRECONDITION:
      return absl::FailedPreconditionError(text);
    case ONEDIM_STATUS_RESOURCE_EXHAUSTED:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::InternalError(text);
  }
}

}  // namespace

// The slots' parts lie one behind the other in vectors that never grow beyond what is reserved.
struct AbiCall::Place {
  onedim_location_t location{};
  std::vector<onedim_slot_location_t> slots;  // inputs, then outputs
  std::vector<onedim_interval_t> intervals;
  std::vector<uint64_t> begins;
  std::vector<onedim_placement_t> placements;

  explicit Place(const Location& from) {
    const LocationSize size(from);
    slots.reserve(size.slots);
    intervals.reserve(size.intervals);
    begins.reserve(size.begins);
    placements.reserve(size.placements);
    for (const SlotLocation& slot : from.inputs) add(slot);
    for (const SlotLocation& slot : from.outputs) add(slot);
    location.struct_size = sizeof(location);
    location.mesh_ndim = static_cast<int32_t>(from.mesh_shape.size());
    location.mesh_shape = from.mesh_shape.data();
    location.coordinate = from.coordinate.data();
    location.inputs = slots.data();
    location.outputs = slots.data() + from.inputs.size();
    location.tags = from.tags.data();
  }
  void add(const SlotLocation& slot) {
    const size_t interval = intervals.size(), begin = begins.size(), placement = placements.size();
    begins.push_back(0);
    for (const Intervals& dim : slot.map.dims) {
      for (const Interval& one : dim) intervals.push_back({one.begin, one.end});
      begins.push_back(intervals.size() - interval);
    }
    for (const Placement& one : slot.placements) placements.push_back(to_abi(one));
    slots.push_back({sizeof(onedim_slot_location_t), slot.global_shape.data(),
                     intervals.data() + interval, begins.data() + begin,
                     placements.data() + placement});
  }
};

AbiCall::AbiCall(const Call& call, std::span<const OptionalOutput> outputs,
                 const Location* location) {
  inputs_.reserve(call.inputs.size());
  outputs_.reserve(outputs.size());
  attributes_.reserve(call.attributes.size());
  arguments_.reserve(call.arguments.size());
  for (const OptionalMeta& meta : call.inputs) inputs_.push_back(meta ? describe(*meta) : absent());
  for (const OptionalOutput& output : outputs)
    outputs_.push_back(output ? describe(output->meta) : absent());
  for (const auto& [name, value] : call.attributes) {
    attributes_.push_back({to_text(name), to_abi_value(value)});
  }
  fill_arguments(call);
  if (location != nullptr) place_ = std::make_unique<Place>(*location);
  call_.struct_size = sizeof(call_);
  call_.op = to_text(call.schema->name);
  call_.inputs = inputs_.data();
  call_.input_count = inputs_.size();
  call_.outputs = outputs_.data();
  call_.output_count = outputs_.size();
  call_.attributes = attributes_.data();
  call_.attribute_count = attributes_.size();
  call_.arguments = arguments_.data();
  call_.argument_count = arguments_.size();
  call_.location = place_ ? &place_->location : nullptr;
  set_identity(call.seed, call.call_id);
}

AbiCall::~AbiCall() = default;

void AbiCall::set_identity(uint64_t seed, uint64_t call_id) {
  call_.seed = seed;
  call_.call_id = call_id;
}

void AbiCall::bind(onedim_tensor_t& slot, const Tensor& tensor) {
  slot.shape = tensor.shape().data();
  slot.strides = tensor.strides().data();
  slot.data = const_cast<std::byte*>(tensor.data());
}

void AbiCall::fill_arguments(const Call& call) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const SlotRange range = call.arguments[i];
    arguments_.push_back({to_text(call.schema->arguments[i].name), range.first, range.count});
  }
}

onedim_value_t AbiCall::to_abi_value(const Value& value) {
  onedim_value_t result{};
  if (const bool* flag = value.get_if<bool>()) {
    result.kind = ONEDIM_VALUE_BOOL;
    result.integer = *flag ? 1 : 0;
  } else if (const int64_t* integer = value.get_if<int64_t>()) {
    result.kind = ONEDIM_VALUE_INT;
    result.integer = *integer;
  } else if (const double* real = value.get_if<double>()) {
    result.kind = ONEDIM_VALUE_FLOAT;
    result.real = *real;
  } else if (const auto* complex = value.get_if<std::complex<double>>()) {
    result.kind = ONEDIM_VALUE_COMPLEX;
    result.real = complex->real();
    result.imaginary = complex->imag();
  } else if (const std::string* text = value.get_if<std::string>()) {
    result.kind = ONEDIM_VALUE_STRING;
    result.text = to_text(*text);
  } else if (const DType* dtype = value.get_if<DType>()) {
    result.kind = ONEDIM_VALUE_DTYPE;
    result.integer = static_cast<int64_t>(*dtype);
  } else if (const ValueList* items = value.get_if<ValueList>()) {
    std::vector<onedim_value_t> list;
    list.reserve(items->size());
    for (const Value& item : *items) list.push_back(to_abi_value(item));
    result.kind = ONEDIM_VALUE_LIST;
    result.item_count = list.size();
    result.items = lists_.emplace_back(std::move(list)).data();
  }
  return result;
}

onedim_text_t to_text(std::string_view text) { return {text.data(), text.size()}; }

std::string from_text(onedim_text_t text) {
  return text.size == 0 ? "" : std::string(text.data, text.size);
}

onedim_placement_t to_abi(const Placement& placement) {
  onedim_placement_t result{};
  result.kind = static_cast<int32_t>(placement.kind);
  result.dim = placement.dim;
  result.split_factor = placement.split_factor;
  result.partial = to_text(placement.partial);
  result.component = placement.component;
  return result;
}

onedim_tensor_t to_abi(const Tensor& tensor) {
  onedim_tensor_t result = describe(tensor.meta());
  result.data = const_cast<std::byte*>(tensor.data());
  return result;
}

CallbackScope::CallbackScope() : outer_(current_scope) { current_scope = this; }

CallbackScope::~CallbackScope() { current_scope = outer_; }

Status CallbackScope::finish(int32_t code, std::string_view subject, std::string_view callback,
                             std::string_view pack) const {
  if (code == ONEDIM_OK) return absl::OkStatus();
  if (text_.empty() || code < 0 || code > ONEDIM_STATUS_INTERNAL) {
    return absl::InternalError(
        fmt::format("{}: {} returned {} {}, a fault of pack {}", subject, callback, code,
                    text_.empty() ? "without saying why" : "(no status): " + text_, pack));
  }
  return status_of_code(code, fmt::format("{}: {}", subject, text_));
}

void set_callback_error(onedim_text_t text) noexcept {
  if (current_scope == nullptr) return;
  try {
    const Result<std::string> message = read_text(text, "the error's text");
    current_scope->text_ = message.ok() ? *message : std::string(message_of(message.status()));
  } catch (...) {
    return;  // out of memory: the code alone remains
  }
}

}  // namespace onedim
