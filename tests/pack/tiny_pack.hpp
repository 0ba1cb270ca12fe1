#pragma once
// TinyPack: a pack made of lambdas and linked into the test, which speaks the C ABI as a library
// would: the descriptors are the raw structs, and `tweak` may damage them before they are
// registered.

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/pack/registry.hpp"
#include "core/pack/staging.hpp"

namespace onedim::tiny {

using CallFn = std::function<int32_t(const onedim_host_t*, const onedim_call_t*, onedim_sink_t*)>;

inline onedim_text_t text_of(std::string_view text) { return {text.data(), text.size()}; }

inline int32_t refuse(const onedim_host_t* host, int32_t code, std::string_view why) {
  host->set_error(host, code, text_of(why));
  return code;
}

// Emits one output; `view` and `offset` as in onedim_output_t.
inline int32_t emit_meta(const onedim_host_t* host, onedim_sink_t* sink, DType dtype,
                         std::vector<int64_t> shape, std::vector<int64_t> strides = {},
                         int32_t view = -1, int64_t offset = 0) {
  onedim_output_t output{};
  output.struct_size = sizeof(output);
  output.present = 1;
  output.dtype = static_cast<int32_t>(dtype);
  output.ndim = static_cast<int32_t>(shape.size());
  output.view_of_input = view;
  output.shape = shape.data();
  output.strides = strides.empty() ? nullptr : strides.data();
  output.storage_offset = offset;
  return host->emit_output(sink, &output);
}

inline int32_t emit_absent(const onedim_host_t* host, onedim_sink_t* sink) {
  onedim_output_t output{};
  output.struct_size = sizeof(output);
  output.view_of_input = -1;
  return host->emit_output(sink, &output);
}

inline std::vector<int64_t> shape_of(const onedim_tensor_t& tensor) {
  return {tensor.shape, tensor.shape + tensor.ndim};
}

// The output is as the first input.
inline int32_t infer_same(const onedim_host_t* host, const onedim_call_t* call,
                          onedim_sink_t* sink) {
  return emit_meta(host, sink, static_cast<DType>(call->inputs[0].dtype),
                   shape_of(call->inputs[0]));
}

inline int64_t count_of(const onedim_tensor_t& tensor) {
  int64_t count = 1;
  for (int32_t dim = 0; dim < tensor.ndim; ++dim) count *= tensor.shape[dim];
  return count;
}

// Address of the element with row-major index `index`.
inline std::byte* at(const onedim_tensor_t& tensor, int64_t index) {
  int64_t offset = 0;
  for (int32_t dim = tensor.ndim; dim-- > 0;) {
    offset += index % tensor.shape[dim] * tensor.strides[dim];
    index /= tensor.shape[dim];
  }
  return static_cast<std::byte*>(tensor.data) + offset * size_of(static_cast<DType>(tensor.dtype));
}
inline double get(const onedim_tensor_t& tensor, int64_t index) {
  return load_real(static_cast<DType>(tensor.dtype), at(tensor, index));
}
inline void set(const onedim_tensor_t& tensor, int64_t index, double value) {
  store_real(static_cast<DType>(tensor.dtype), at(tensor, index), value);
}

inline const onedim_value_t* attribute(const onedim_call_t* call, std::string_view name) {
  for (uint64_t i = 0; i < call->attribute_count; ++i) {
    const onedim_text_t& key = call->attributes[i].name;
    if (std::string_view(key.data, key.size) == name) return &call->attributes[i].value;
  }
  return nullptr;
}

struct TinyOp {
  std::string schema;
  std::string variant_of;
  std::string example;
  uint64_t flags = 0;
  CallFn infer;
  CallFn rules;
  std::function<int32_t(const onedim_host_t*, const onedim_call_t*)> accept;
  std::function<int32_t(const onedim_host_t*, onedim_sink_t*)> samples;
  std::vector<std::string> rule_table;
  std::vector<std::string> sample_table;
  std::vector<onedim_size_attribute_t> sizes;
  std::function<void(onedim_op_t&)> tweak;
};

struct TinyKernel {
  std::string op;
  uint64_t dtypes = (1u << ONEDIM_DTYPE_COUNT) - 1;
  int32_t device = ONEDIM_DEVICE_CPU;
  std::function<int32_t(const onedim_host_t*, const onedim_call_t*, const onedim_execution_t*)>
      compute;
  std::function<int32_t(const onedim_host_t*, const onedim_call_t*, uint64_t*)> workspace;
  std::function<void(onedim_kernel_t&)> tweak;
};

struct TinyPack {
  std::string name = "tiny";
  std::string version = "1.0.0";
  std::deque<TinyOp> ops;
  std::deque<TinyKernel> kernels;
  std::vector<onedim_partial_kind_t> kinds;
  std::function<int32_t(const onedim_host_t*, onedim_registrar_t*)> more;  // the rest of init
  std::function<void(onedim_pack_t&)> tweak;

  TinyOp& op(std::string schema) {
    ops.emplace_back().schema = std::move(schema);
    return ops.back();
  }
  TinyKernel& kernel(std::string op_name) {
    kernels.emplace_back().op = std::move(op_name);
    return kernels.back();
  }

  Result<StagedPack> stage(std::string path = "") {
    current() = this;
    onedim_pack_t pack{};
    pack.struct_size = sizeof(pack);
    pack.abi_major = ONEDIM_ABI_MAJOR;
    pack.abi_minor = ONEDIM_ABI_MINOR;
    pack.name = text_of(name);
    pack.version = text_of(version);
    pack.init = [](const onedim_host_t* host, onedim_registrar_t* registrar) noexcept {
      return current()->init(host, registrar);
    };
    if (tweak) tweak(pack);
    return onedim::stage(pack, std::move(path));
  }

 private:
  static TinyPack*& current() {
    static TinyPack* pack = nullptr;
    return pack;
  }

  int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
    for (TinyOp& op : ops) {
      if (const int32_t code = add(host, registrar, op)) return code;
    }
    for (TinyKernel& kernel : kernels) {
      if (const int32_t code = add(host, registrar, kernel)) return code;
    }
    for (const onedim_partial_kind_t& kind : kinds) {
      if (const int32_t code = host->register_partial_kind(registrar, &kind)) return code;
    }
    return more ? more(host, registrar) : ONEDIM_OK;
  }

  static int32_t add(const onedim_host_t* host, onedim_registrar_t* registrar, TinyOp& op) {
    std::vector<onedim_text_t> rules;
    std::vector<onedim_text_t> samples;
    for (const std::string& rule : op.rule_table) rules.push_back(text_of(rule));
    for (const std::string& sample : op.sample_table) samples.push_back(text_of(sample));
    onedim_op_t raw{};
    raw.struct_size = sizeof(raw);
    raw.schema = text_of(op.schema);
    raw.variant_of = text_of(op.variant_of);
    raw.example = text_of(op.example);
    raw.flags = op.flags;
    raw.user = &op;
    if (op.infer) {
      raw.infer = [](const onedim_host_t* h, void* user, const onedim_call_t* call,
                     onedim_sink_t* sink) noexcept {
        return static_cast<TinyOp*>(user)->infer(h, call, sink);
      };
    }
    if (op.rules) {
      raw.rules = [](const onedim_host_t* h, void* user, const onedim_call_t* call,
                     onedim_sink_t* sink) noexcept {
        return static_cast<TinyOp*>(user)->rules(h, call, sink);
      };
    }
    if (op.accept) {
      raw.accept_local = [](const onedim_host_t* h, void* user,
                            const onedim_call_t* call) noexcept {
        return static_cast<TinyOp*>(user)->accept(h, call);
      };
    }
    if (op.samples) {
      raw.samples = [](const onedim_host_t* h, void* user, onedim_sink_t* sink) noexcept {
        return static_cast<TinyOp*>(user)->samples(h, sink);
      };
    }
    raw.rule_table = rules.data();
    raw.rule_table_count = rules.size();
    raw.sample_table = samples.data();
    raw.sample_table_count = samples.size();
    raw.size_attributes = op.sizes.data();
    raw.size_attribute_count = op.sizes.size();
    if (op.tweak) op.tweak(raw);
    return host->register_op(registrar, &raw);
  }

  static int32_t add(const onedim_host_t* host, onedim_registrar_t* registrar, TinyKernel& kernel) {
    onedim_kernel_t raw{};
    raw.struct_size = sizeof(raw);
    raw.op = text_of(kernel.op);
    raw.device = kernel.device;
    raw.dtypes = kernel.dtypes;
    raw.user = &kernel;
    raw.compute = [](const onedim_host_t* h, void* user, const onedim_call_t* call,
                     const onedim_execution_t* execution) noexcept {
      return static_cast<TinyKernel*>(user)->compute(h, call, execution);
    };
    if (kernel.workspace) {
      raw.workspace = [](const onedim_host_t* h, void* user, const onedim_call_t* call,
                         uint64_t* bytes) noexcept {
        return static_cast<TinyKernel*>(user)->workspace(h, call, bytes);
      };
    }
    if (kernel.tweak) kernel.tweak(raw);
    return host->register_kernel(registrar, &raw);
  }
};

// Commits and resolves; the packs must be sound.
inline Registry commit(TinyPack& pack) {
  Registry registry;
  Result<StagedPack> staged = pack.stage();
  const Status status = staged.ok() ? registry.commit(*std::move(staged)) : staged.status();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(registry.resolve(), std::vector<std::string>{});
  return registry;
}

inline Call call_of(const Op& op, std::string_view text) {
  Result<CallText> call = parse_call(op.schema, text);
  EXPECT_TRUE(call.ok()) << call.status();
  return call.ok() ? call->call : Call{};
}

inline Tensor tensor_of(DType dtype, Dims shape, const std::vector<double>& values) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i)
    store_real(dtype, tensor.element(static_cast<int64_t>(i)), values[i]);
  return tensor;
}

inline std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    values.push_back(load_real(tensor.dtype(), tensor.element(i)));
  return values;
}

// Matches a failed status (or Result) whose message contains `part`.
template <typename T>
::testing::AssertionResult fails_with(const T& result, std::string_view part) {
  if (result.ok()) return ::testing::AssertionFailure() << "it did not fail";
  Status status;
  if constexpr (std::is_same_v<T, Status>) {
    status = result;
  } else {
    status = result.status();
  }
  if (message_of(status).find(part) != std::string_view::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the message is: " << message_of(status);
}

}  // namespace onedim::tiny
