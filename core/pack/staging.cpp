#include "core/pack/staging.hpp"

#include <algorithm>

#include "core/pack/abi_bridge.hpp"
#include "core/pack/abi_read.hpp"
#include "core/pack/descriptor_check.hpp"

namespace onedim {
namespace {

// What stands behind the registrar handle while init runs.
struct Registrar {
  StagedPack pack;
  Status refusal;  // the first
  size_t count = 0;
};

Registrar* from_abi(onedim_registrar_t* registrar) {
  return reinterpret_cast<Registrar*>(registrar);
}

// Runs `add` for the next registration; the first refusal stays, and fails the pack whatever init
// returns.
template <typename Add>
int32_t register_one(onedim_registrar_t* handle, Add add) noexcept {
  Registrar* registrar = from_abi(handle);
  if (registrar == nullptr) return ONEDIM_STATUS_INVALID_ARGUMENT;
  try {
    Status status = ++registrar->count <= kMaxCount
                        ? add(registrar->pack)
                        : invalid_argument("more than {} registrations", kMaxCount);
    if (status.ok()) return ONEDIM_OK;
    if (registrar->refusal.ok()) registrar->refusal = std::move(status);
    return ONEDIM_STATUS_INVALID_ARGUMENT;
  } catch (...) {
    registrar->refusal = absl::ResourceExhaustedError("out of memory while registering");
    return ONEDIM_STATUS_RESOURCE_EXHAUSTED;
  }
}

Status add_op(const onedim_op_t* descriptor, StagedPack& pack) {
  Result<std::unique_ptr<Op>> op = read_op(descriptor, pack.name);
  if (!op.ok()) return op.status();
  const bool again = std::any_of(pack.ops.begin(), pack.ops.end(),
                                 [&](const auto& other) { return other->name() == (*op)->name(); });
  if (again) return invalid_argument("op {} is registered twice", (*op)->name());
  pack.ops.push_back(*std::move(op));
  return absl::OkStatus();
}

Status add_kernel(const onedim_kernel_t* descriptor, StagedPack& pack) {
  Result<std::pair<std::string, Kernel>> kernel = read_kernel(descriptor, pack.name);
  if (!kernel.ok()) return kernel.status();
  const bool again = std::any_of(pack.kernels.begin(), pack.kernels.end(), [&](const auto& other) {
    return other.first == kernel->first && other.second.device == kernel->second.device;
  });
  if (again) {
    return invalid_argument("a second kernel of op {} for device {}", kernel->first,
                            kernel->second.device);
  }
  pack.kernels.push_back(*std::move(kernel));
  return absl::OkStatus();
}

Status add_partial_kind(const onedim_partial_kind_t* descriptor, StagedPack& pack) {
  Result<std::unique_ptr<PartialKind>> kind = read_partial_kind(descriptor, pack.name);
  if (!kind.ok()) return kind.status();
  const bool again = std::any_of(pack.partial_kinds.begin(), pack.partial_kinds.end(),
                                 [&](const auto& other) { return other->name == (*kind)->name; });
  if (again) return invalid_argument("partial kind {} is registered twice", (*kind)->name);
  pack.partial_kinds.push_back(*std::move(kind));
  return absl::OkStatus();
}

int32_t register_op(onedim_registrar_t* registrar, const onedim_op_t* op) noexcept {
  return register_one(registrar, [&](StagedPack& pack) { return add_op(op, pack); });
}

int32_t register_kernel(onedim_registrar_t* registrar, const onedim_kernel_t* kernel) noexcept {
  return register_one(registrar, [&](StagedPack& pack) { return add_kernel(kernel, pack); });
}

int32_t register_partial_kind(onedim_registrar_t* registrar,
                              const onedim_partial_kind_t* kind) noexcept {
  return register_one(registrar, [&](StagedPack& pack) { return add_partial_kind(kind, pack); });
}

void set_error(const onedim_host_t*, int32_t, onedim_text_t text) noexcept {
  set_callback_error(text);
}

// No interface is offered beside the table yet, so every id is absent.
const void* find_interface(const onedim_host_t*, onedim_text_t) noexcept { return nullptr; }

constexpr onedim_host_t kHostTable = {
    sizeof(onedim_host_t), ONEDIM_ABI_MAJOR,      ONEDIM_ABI_MINOR, set_error, register_op,
    register_kernel,       register_partial_kind, emit_output,      emit_rule, emit_rule_text,
    emit_sample,           find_interface,
};

// The copy of the pointer drops its promise not to throw, so that a pack that breaks it is a
// status.
Result<int32_t> run_init(const onedim_pack_t& pack, Registrar& registrar) {
  int32_t (*init)(const onedim_host_t*, onedim_registrar_t*) = pack.init;
  try {
    return init(&kHostTable, reinterpret_cast<onedim_registrar_t*>(&registrar));
  } catch (...) {
    return absl::InternalError(fmt::format(
        "init throws, a fault of pack {}: catch and return a status", registrar.pack.name));
  }
}

}  // namespace

const onedim_host_t& host_table() { return kHostTable; }

Result<StagedPack> stage(const onedim_pack_t& pack, std::string path) {
  if (Status status = check_pack(pack); !status.ok()) return status;
  Registrar registrar;
  registrar.pack.name = std::string(pack.name.data, pack.name.size);
  registrar.pack.version = std::string(pack.version.data, pack.version.size);
  registrar.pack.path = std::move(path);
  CallbackScope scope;
  const Result<int32_t> code = run_init(pack, registrar);
  if (!registrar.refusal.ok()) return registrar.refusal;
  if (!code.ok()) return code.status();
  Status status = scope.finish(*code, registrar.pack.name, "init", registrar.pack.name);
  if (!status.ok()) return status;
  return std::move(registrar.pack);
}

}  // namespace onedim
