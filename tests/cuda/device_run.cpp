#include "tests/cuda/device_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/text.hpp"
#include "core/pack/abi_bridge.hpp"
#include "core/pack/host_table.hpp"
#include "core/pack/prepared_call.hpp"
#include "core/validate/lanes.hpp"
#include "core/validate/value_draw.hpp"

namespace onedim {
namespace {

// Dims in any order in memory, some with gaps; inputs may repeat elements along a dim.
Dims random_strides(const Dims& shape, bool may_repeat, Random& random) {
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) {
    if (random.chance(40))
      std::swap(order[i - 1], order[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
  }
  Dims strides(shape.size(), 1);
  int64_t step = random.chance(20) ? 2 : 1;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t dim = static_cast<size_t>(order[i]);
    strides[dim] = may_repeat && random.chance(10) ? 0 : step;
    step *= std::max<int64_t>(shape[dim], 1) + (random.chance(15) ? 1 : 0);
  }
  return strides;
}

using Tensors = std::vector<std::optional<Tensor>>;

std::vector<Tensor*> pointers(Tensors& tensors) {
  std::vector<Tensor*> list;
  for (std::optional<Tensor>& tensor : tensors) list.push_back(tensor ? &*tensor : nullptr);
  return list;
}

size_t storage_bytes(const Tensor& tensor) {
  return static_cast<size_t>(tensor.meta().storage_length() * size_of(tensor.dtype()));
}

// Tensors on the device, with their gaps, while a kernel runs.
class Upload {
 public:
  explicit Upload(Device& device) : device_(device) {}
  ~Upload() {
    for (void* memory : memories_) device_.release(memory);
  }
  Upload(const Upload&) = delete;

  std::vector<onedim_tensor_t> add(const onedim_tensor_t* described, Tensors& tensors) {
    std::vector<onedim_tensor_t> slots(described, described + tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      slots[i].device = ONEDIM_DEVICE_CUDA;
      if (!tensors[i]) continue;
      slots[i].shape = tensors[i]->shape().data();
      slots[i].strides = tensors[i]->strides().data();
      slots[i].data = allocate(storage_bytes(*tensors[i]));
      error_ += device_.upload(slots[i].data, tensors[i]->data(), storage_bytes(*tensors[i]));
    }
    return slots;
  }
  void* allocate(size_t bytes) {
    memories_.push_back(device_.allocate(std::max<size_t>(bytes, 1)));
    return memories_.back();
  }
  const std::string& error() const { return error_; }

 private:
  Device& device_;
  std::vector<void*> memories_;
  std::string error_;
};

std::string run_on_device(const Op& op, const Call& call, std::span<const OptionalOutput> metas,
                          const Location* location, Tensors& inputs, Tensors& outputs,
                          Device& device) {
  const Kernel* kernel = op.find_kernel(ONEDIM_DEVICE_CUDA);
  if (kernel == nullptr) return "no CUDA kernel";
  const AbiCall abi(call, metas, op.told(location));
  onedim_call_t raw = *abi.get();
  uint64_t bytes = 0;
  {
    CallbackScope scope;
    const int32_t code = kernel->workspace == nullptr
                             ? ONEDIM_OK
                             : kernel->workspace(&host_table(), kernel->user, &raw, &bytes);
    const Status status = scope.finish(code, op.name(), "workspace", kernel->pack);
    if (!status.ok()) return std::string(message_of(status));
  }
  Upload memory(device);
  const std::vector<onedim_tensor_t> in = memory.add(raw.inputs, inputs);
  const std::vector<onedim_tensor_t> out = memory.add(raw.outputs, outputs);
  raw.inputs = in.data();
  raw.outputs = out.data();
  onedim_execution_t execution{};
  execution.struct_size = sizeof(execution);
  execution.thread_count = 1;
  execution.device = ONEDIM_DEVICE_CUDA;
  execution.workspace = bytes > 0 ? memory.allocate(bytes) : nullptr;
  execution.workspace_bytes = bytes;
  CallbackScope scope;
  const int32_t code = kernel->compute(&host_table(), kernel->user, &raw, &execution);
  const Status status = scope.finish(code, op.name(), "compute", kernel->pack);
  if (!status.ok()) return std::string(message_of(status));
  std::string error = memory.error();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i])
      error += device.download(outputs[i]->data(), out[i].data, storage_bytes(*outputs[i]));
  }
  return error;
}

// How far results of the same sums in another order, or of functions rounded otherwise, may lie
// apart, as a part of the largest.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 1e-11;
    case DType::kBF16:
      return 1.0 / 64;
    case DType::kF16:
      return 1.0 / 512;
    default:
      return 3e-5;
  }
}

std::string difference(const Tensor& expected, const Tensor& found) {
  Lanes a, b;
  read_lanes(expected, a);
  read_lanes(found, b);
  if (a.lane_class == LaneClass::kInteger) {
    const auto at = std::mismatch(a.integers.begin(), a.integers.end(), b.integers.begin());
    if (at.first == a.integers.end()) return "";
    return fmt::format("element {} is {}, on the CPU {}", at.first - a.integers.begin(), *at.second,
                       *at.first);
  }
  // Values are drawn on multiples of 1/64: what is all smaller is what rounded terms cancelled to.
  double largest = 0x1p-6;
  for (const double value : a.reals) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  const double allowed = tolerance_of(expected.dtype()) * largest;
  for (size_t i = 0; i < a.reals.size(); ++i) {
    const double x = a.reals[i], y = b.reals[i];
    const bool is_same = x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= allowed;
    if (!is_same) return fmt::format("element {} is {}, on the CPU {}", i, y, x);
  }
  return "";
}

// Elements are compared as numbers; the gaps between them must be as they were.
std::string gaps_differ(const Tensor& before, const Tensor& after) {
  Tensor copy = Tensor::uninitialized(before.meta());
  std::memcpy(copy.data(), after.data(), storage_bytes(after));
  copy_elements(before.clone(), copy);
  const bool is_same = std::memcmp(copy.data(), before.data(), storage_bytes(before)) == 0;
  return is_same ? "" : "a gap between elements was written";
}

Tensor marked(const TensorMeta& meta) {
  Tensor tensor = Tensor::uninitialized(meta);
  std::memset(tensor.data(), 0x5B, storage_bytes(tensor));
  return tensor;
}

Tensors draw_inputs(Call& call, std::span<const Domain> domains, Random& random) {
  Tensors inputs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    OptionalMeta& meta = call.inputs[i];
    if (!meta) {
      inputs.emplace_back();
      continue;
    }
    meta->strides = random_strides(meta->shape, true, random);
    const DrawKind kind = random.chance(30) ? DrawKind::kTies : DrawKind::kMixed;
    inputs.emplace_back(draw_values(*meta, domains[i], kind, {}, Random(random.next()), 2));
  }
  return inputs;
}

std::string run_on_cpu(const Op& op, const Call& call, std::span<const OptionalOutput> metas,
                       const Location* location, Tensors& inputs, Tensors& outputs) {
  Result<std::unique_ptr<PreparedCompute>> prepared =
      PreparedCompute::create(op, call, metas, location);
  if (!prepared.ok()) return std::string(message_of(prepared.status()));
  const Status status = (*prepared)->run(pointers(inputs), pointers(outputs));
  return status.ok() ? "" : std::string(message_of(status));
}

std::string parsed_layouts(std::string_view text, const Mesh& mesh, const std::vector<int>& ndims,
                           std::vector<Layout>& layouts) {
  size_t slot = 0;
  for (const std::string_view part : split_top_level(text, ';')) {
    const int ndim = ndims.at(slot++);
    if (part == "-") {
      layouts.push_back(Layout::replicated(mesh.ndim()));
      continue;
    }
    Result<Layout> layout = parse_layout(part, mesh, ndim);
    if (!layout.ok()) return std::string(message_of(layout.status()));
    layouts.push_back(*std::move(layout));
  }
  return "";
}

}  // namespace

std::string compare_kernels(const Op& op, const Call& given, std::span<const Domain> domains,
                            const Location* location, Device& device, Random& random) {
  Call call = given;
  Tensors inputs = draw_inputs(call, domains, random);
  const Result<std::vector<OptionalOutput>> metas = op.infer(call, location);
  if (!metas.ok()) return std::string(message_of(metas.status()));
  Tensors on_cpu, on_device;
  for (const OptionalOutput& output : *metas) {
    if (!output) {
      on_cpu.emplace_back();
      on_device.emplace_back();
      continue;
    }
    TensorMeta meta = output->meta;
    if (random.chance(50)) meta.strides = random_strides(meta.shape, false, random);
    on_cpu.emplace_back(marked(meta));
    on_device.emplace_back(marked(meta));
  }
  std::string error = run_on_cpu(op, call, *metas, location, inputs, on_cpu);
  if (!error.empty()) return "on the CPU: " + error;
  error = run_on_device(op, call, *metas, location, inputs, on_device, device);
  for (size_t i = 0; error.empty() && i < on_cpu.size(); ++i) {
    if (!on_cpu[i]) continue;
    error = difference(*on_cpu[i], *on_device[i]);
    if (error.empty()) error = gaps_differ(marked(on_device[i]->meta()), *on_device[i]);
    if (!error.empty()) error = fmt::format("output {}: {}", i, error);
  }
  return error.empty() ? "" : fmt::format("{}; {}", error, format_call(call, domains));
}

std::string compare_whole(DeviceKind kind, Device& device, std::string_view name,
                          std::string_view text, Random& random) {
  const Op* op = registry_of(kind).find(name);
  if (op == nullptr) return "no pack offers the op";
  const Result<CallText> call = parse_call(op->schema, text);
  if (!call.ok()) return std::string(message_of(call.status()));
  return compare_kernels(*op, call->call, call->domains, nullptr, device, random);
}

std::string compare_ranks(DeviceKind kind, Device& device, std::string_view name,
                          std::string_view text, std::string_view mesh_text,
                          std::string_view outputs, std::string_view inputs, Random& random) {
  const Op* op = registry_of(kind).find(name);
  if (op == nullptr) return "no pack offers the op";
  const Result<CallText> call = parse_call(op->schema, text);
  if (!call.ok()) return std::string(message_of(call.status()));
  const Result<std::vector<OptionalOutput>> metas = op->infer(call->call);
  if (!metas.ok()) return std::string(message_of(metas.status()));
  const Result<Mesh> mesh = Mesh::parse(mesh_text);
  if (!mesh.ok()) return std::string(message_of(mesh.status()));
  std::vector<int> in_dims, out_dims;
  for (const OptionalMeta& meta : call->call.inputs)
    in_dims.push_back(meta ? static_cast<int>(meta->shape.size()) : 0);
  for (const OptionalOutput& output : *metas)
    out_dims.push_back(output ? static_cast<int>(output->meta.shape.size()) : 0);
  std::vector<Layout> in_layouts, out_layouts;
  std::string error = parsed_layouts(inputs, *mesh, in_dims, in_layouts);
  error += parsed_layouts(outputs, *mesh, out_dims, out_layouts);
  if (!error.empty()) return error;
  const std::vector<uint64_t> tags(static_cast<size_t>(mesh->ndim()), 0);
  for (int64_t rank = 0; error.empty() && rank < mesh->rank_count(); ++rank) {
    const Result<LocalCall> local = make_local_call(
        *op, call->call, *metas, in_layouts, out_layouts, *mesh, mesh->coordinate_of(rank), tags);
    if (!local.ok()) return std::string(message_of(local.status()));
    if (!local->matches_layouts) return "the local call does not match the layouts";
    error = compare_kernels(*op, local->call, call->domains, &local->location, device, random);
    if (!error.empty()) error = fmt::format("rank {}: {}", rank, error);
  }
  return error;
}

}  // namespace onedim
