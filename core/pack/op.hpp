#pragma once
// Op: one committed op and everything core may ask of its pack. Invariant: the schema is parsed,
// the tables are parsed, required callbacks exist; `variant` forms (in-place, out=, over lists)
// answer through their plain op. Methods call foreign code through the C ABI and turn its status
// and emissions into values; a pack that breaks the contract (emits the wrong number of placements,
// a dim out of range ...) gives a status that names the op. Thread-safe after commit.

#include <optional>
#include <string>
#include <vector>

#include "core/pack/call.hpp"
#include "core/pack/location.hpp"
#include "core/pack/rule.hpp"

namespace onedim {

struct OutputMeta {
  TensorMeta meta;
  int view_of_input = -1;  // input slot whose storage it shares
  int64_t storage_offset = 0;
  bool operator==(const OutputMeta&) const = default;
};
using OptionalOutput = std::optional<OutputMeta>;

struct SizeAttribute {
  std::string attribute;
  int output_slot = 0;
  int first_dim = 0;
};

// kList: over lists, into new tensors; in-place and out= forms may be over lists too.
enum class Variant { kPlain, kInPlace, kOut, kList };

struct CallCost {
  double flops = 0;
  double bytes = 0;
};

// A kernel as registered, on one device. `user` and the functions belong to the pack.
struct Kernel {
  int device = ONEDIM_DEVICE_CPU;
  uint64_t dtypes = 0;  // bit 1 << dtype
  std::string pack;
  void* user = nullptr;
  onedim_compute_fn compute = nullptr;
  onedim_workspace_fn workspace = nullptr;
};

class Op {
 public:
  const std::string& name() const { return schema.name; }
  bool is_position_aware() const { return flags & ONEDIM_OP_POSITION_AWARE; }
  // An op over lists whose plain op is that of one element, see list_form.hpp.
  bool is_list_form() const { return !element_arguments.empty(); }
  // Another implementation may leave other values in the outputs: only their metas compare.
  bool has_undefined_content() const { return flags & ONEDIM_OP_UNDEFINED_CONTENT; }
  // True if the local call depends on the output's placement: position-aware, or with size
  // attributes.
  bool depends_on_output_placement() const {
    return is_position_aware() || !size_attributes.empty();
  }
  // What the op's callbacks and kernels are told of a location: nothing unless the op is position
  // aware, so that what was proved without a location runs without one.
  const Location* told(const Location* location) const {
    return is_position_aware() ? location : nullptr;
  }
  const Kernel* find_kernel(int device) const;  // also through the plain op

  // The outputs by description, checked against the schema and the call. A local call has a
  // location.
  Result<std::vector<OptionalOutput>> infer(const Call& call,
                                            const Location* location = nullptr) const;
  // As declared for this call: the table, then the callback; not closed (see closed_rules). A list
  // form declares none: the closed rules of its elements make its own.
  Result<std::vector<Rule>> declared_rules(const Call& call,
                                           std::span<const OptionalOutput> outputs) const;
  // Whether this local call may run; the status says why not.
  Status accept_local(const Call& call, std::span<const OptionalOutput> outputs,
                      const Location* location) const;
  // Sample texts: the table, then the callback; variants derive theirs from the plain op's.
  Result<std::vector<std::string>> samples() const;
  // Runs the CPU kernel once; see PreparedCompute, which runs it many times, for what the tensors
  // must be.
  Status compute(const Call& call, std::span<Tensor* const> inputs,
                 std::span<Tensor* const> outputs, const Location* location,
                 int thread_count = 1) const;
  // Work of one call as the pack estimates it; nullopt if it does not. A local call has a location.
  Result<std::optional<CallCost>> cost(const Call& call, std::span<const OptionalOutput> outputs,
                                       const Location* location = nullptr) const;

  std::string pack;
  Schema schema;
  std::string summary;
  std::string example;
  Variant variant = Variant::kPlain;
  std::string variant_of;     // the plain op's name; such an op has no callbacks of its own
  const Op* plain = nullptr;  // of a variant, set when packs are resolved
  std::vector<int> written_arguments;  // schema arguments that are written (the `!`)
  // Of a list form, per argument of the plain op: the form's that stands for it, or -1.
  std::vector<int> element_arguments;
  uint64_t flags = 0;
  void* user = nullptr;
  onedim_infer_fn infer_fn = nullptr;
  onedim_rules_fn rules_fn = nullptr;
  onedim_accept_fn accept_fn = nullptr;
  onedim_cost_fn cost_fn = nullptr;
  onedim_samples_fn samples_fn = nullptr;
  std::vector<Rule> rule_table;
  std::vector<std::string> sample_table;
  std::vector<SizeAttribute> size_attributes;
  std::vector<std::string> gradient_ops;
  std::vector<Kernel> kernels;  // one per device
};

// Runs `op` on whole tensors: infers, allocates, computes. One entry per output slot, nullopt where
// absent. The tensors given decide shapes and strides. In-place and out= forms write into the
// tensor given and return it.
Result<std::vector<std::optional<Tensor>>> run_op(const Op& op, const Call& call,
                                                  std::span<Tensor* const> inputs);

}  // namespace onedim
