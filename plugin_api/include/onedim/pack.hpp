#pragma once
// The C++ side of the pack ABI, header-only: ONEDIM_PACK names a pack and the function that
// declares its ops, kernels and partial kinds. A useful op takes about ten lines:
//
//   ONEDIM_PACK("mylib", "1.0.0", [](onedim::api::Registrar& r) {
//     r.op("mylib.halve(Tensor x) -> Tensor")
//         .summary("x / 2")
//         .pointwise(onedim::api::Promotion::kFloating)
//         .rules({"P(sum) | P(sum)", "P(avg) | P(avg)", "P(max) | P(max)", "P(min) | P(min)"})
//         .compute<float, double>([](auto x) { return x / 2; })
//         .samples({"f32[5,7]", "f64[3,1,4]"});
//   });
//
// Declarations live as long as the process. Callbacks may throw onedim::api::Error; nothing crosses
// the ABI. A pack in use is replaced by renaming a new file over it, never by writing into it: a
// process that has it open runs on with the old file, but would crash on a changed one.

#include <onedim/loops.hpp>
#include <onedim/op_builder.hpp>
#include <onedim/op_registration.hpp>
#include <onedim/partial_builder.hpp>
#include <onedim/philox.hpp>
#include <onedim/pointwise_op.hpp>

#include <deque>
#include <functional>
#include <type_traits>
#include <vector>

namespace onedim::api {

// Collects a pack's declarations.
class Registrar {
 public:
  OpBuilder& op(std::string_view schema) { return ops_.emplace_back(schema); }
  PartialBuilder& partial(std::string_view name, std::vector<std::string> components) {
    return partials_.emplace_back(name, std::move(components));
  }
  // A kernel for an op that another pack declares.
  KernelBuilder& kernel(std::string_view op, int32_t device) {
    return kernels_.emplace_back(op, device);
  }

  // `r.variant("max.dim_max(Tensor self, int dim, ..., Tensor(a!) max, Tensor(b!) max_values) ->
  // (Tensor(a!) max, Tensor(b!) values)", "max.dim")`; OpBuilder's in_place and out derive the
  // schema of the common forms.
  VariantBuilder& variant(std::string_view schema, std::string_view plain) {
    return variants_.emplace_back(schema, plain);
  }
  // Runs when the process ends, the last declared first; packs that were loaded later have ended.
  void on_shutdown(std::function<void()> fn) { shutdowns_.push_back(std::move(fn)); }

  void shut_down() {
    for (; !shutdowns_.empty(); shutdowns_.pop_back()) shutdowns_.back()();
  }
  int32_t register_all(const onedim_host_t* host, onedim_registrar_t* registrar) {
    for (PartialBuilder& kind : partials_) {
      if (const int32_t status = kind.register_with(host, registrar)) return status;
    }
    for (OpBuilder& op : ops_) {
      if (const int32_t status = op.register_with(host, registrar)) return status;
    }
    for (VariantBuilder& variant : variants_) {
      if (const int32_t status = variant.register_with(host, registrar)) return status;
    }
    for (KernelBuilder& kernel : kernels_) {
      if (const int32_t status = kernel.register_with(host, registrar)) return status;
    }
    return ONEDIM_OK;
  }

 private:
  std::deque<OpBuilder> ops_;
  std::deque<PartialBuilder> partials_;
  std::deque<VariantBuilder> variants_;
  std::deque<KernelBuilder> kernels_;
  std::vector<std::function<void()>> shutdowns_;
};

// The declarations of the pack that `Declare` declares, one set for each time it was initialised.
template <typename Declare>
std::deque<Registrar>& kept_declarations() {
  static std::deque<Registrar> kept;
  return kept;
}

// Body of a pack's init. The declarations stay alive: callbacks point into them.
template <typename Declare>
int32_t run_init(const onedim_host_t* host, onedim_registrar_t* registrar,
                 Declare declare) noexcept {
  int32_t status = ONEDIM_OK;
  const int32_t guard = guarded(host, [&] {
    std::deque<Registrar>& kept = kept_declarations<Declare>();
    declare(kept.emplace_back());
    status = kept.back().register_all(host, registrar);
  });
  return guard != ONEDIM_OK ? guard : status;
}

// Body of a pack's shutdown. What it throws has no one to go to.
template <typename Declare>
void run_shutdown() noexcept {
  for (Registrar& registrar : kept_declarations<Declare>()) {
    try {
      registrar.shut_down();
    } catch (...) {
    }
  }
}

// An entry object for a pack that is linked into a program, as tests do.
constexpr onedim_pack_t make_pack(std::string_view name, std::string_view version,
                                  int32_t (*init)(const onedim_host_t*,
                                                  onedim_registrar_t*) noexcept,
                                  void (*shutdown)() noexcept = nullptr) {
  return {sizeof(onedim_pack_t),
          ONEDIM_ABI_MAJOR,
          ONEDIM_ABI_MINOR,
          ONEDIM_ABI_MINOR,
          {name.data(), name.size()},
          {version.data(), version.size()},
          init,
          shutdown};
}

#ifdef NDEBUG
inline constexpr uint32_t kBuildKind = ONEDIM_BUILD_RELEASE;
#else
inline constexpr uint32_t kBuildKind = ONEDIM_BUILD_DEBUG;
#endif

#if defined(__x86_64__)
#define ONEDIM_TARGET "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define ONEDIM_TARGET "aarch64-linux-gnu"
#else
#error "onedim packs are built for x86_64 and aarch64 Linux"
#endif

}  // namespace onedim::api

// The one exported symbol and the note that goes with it. Use once a pack, at namespace scope.
#define ONEDIM_PACK(pack_name, pack_version, ...)                                             \
  static const auto onedim_pack_declare = __VA_ARGS__;                                        \
  static int32_t onedim_pack_init(const onedim_host_t* host,                                  \
                                  onedim_registrar_t* registrar) noexcept {                   \
    return ::onedim::api::run_init(host, registrar, onedim_pack_declare);                     \
  }                                                                                           \
  static void onedim_pack_shutdown() noexcept {                                               \
    ::onedim::api::run_shutdown<std::remove_const_t<decltype(onedim_pack_declare)>>();        \
  }                                                                                           \
  __attribute__((section(".note.onedim"), used,                                               \
                 aligned(4))) static const onedim_note_t onedim_pack_note = {                 \
      sizeof ONEDIM_NOTE_OWNER,                                                               \
      sizeof(onedim_note_t) - offsetof(onedim_note_t, abi_major),                             \
      ONEDIM_NOTE_TYPE,                                                                       \
      ONEDIM_NOTE_OWNER,                                                                      \
      ONEDIM_ABI_MAJOR,                                                                       \
      ONEDIM_ABI_MINOR,                                                                       \
      ONEDIM_ABI_MINOR,                                                                       \
      ::onedim::api::kBuildKind,                                                              \
      ONEDIM_TARGET};                                                                         \
  ONEDIM_EXTERN_C __attribute__((visibility("default"))) const onedim_pack_t onedim_pack_v1 = \
      ::onedim::api::make_pack(pack_name, pack_version, onedim_pack_init, onedim_pack_shutdown)
