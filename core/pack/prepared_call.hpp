#pragma once
// PreparedCompute: one call of an op's CPU kernel, prepared once and run many times with other
// data: the C structs, the slot mapping of variants and the workspace are made once, so a run costs
// little more than the kernel. Outputs that are views need no kernel. A kernel never sees an output
// that shares storage with one of its inputs: the host then computes into a temporary and copies.
// One thread at a time per object.

#include <cstdlib>
#include <memory>
#include <vector>

#include "core/pack/abi_bridge.hpp"

namespace onedim {

class PreparedCompute {
 public:
  // Whether `call` and `location` are copied, or outlive this.
  enum class Keep { kCopies, kReferences };

  // `outputs` are those that infer gave for `call`; they are copied, `op` must outlive this.
  // Unimplemented where there is no CPU kernel for the call's dtypes.
  static Result<std::unique_ptr<PreparedCompute>> create(const Op& op, const Call& call,
                                                         std::span<const OptionalOutput> outputs,
                                                         const Location* location,
                                                         int thread_count = 1,
                                                         Keep keep = Keep::kCopies);

  // Tensors per slot of the call, null where absent; dtypes and shapes must be the call's, strides
  // may differ (but for inputs that an output is a view of). An output may be the tensor that the
  // op's alias marks name, or any other: then the tensor that would have been written, or viewed,
  // stays as it is.
  Status run(std::span<Tensor* const> inputs, std::span<Tensor* const> outputs);

  // Random ops draw from these.
  void set_identity(uint64_t seed, uint64_t call_id);

 private:
  enum class OutputKind { kAbsent, kComputed, kView, kWritten };

  PreparedCompute(const Op& op, const Call& call, std::span<const OptionalOutput> outputs,
                  const Location* location, Keep keep);
  // One element of a list form, and the form's input slot of each of its inputs.
  struct Element {
    std::unique_ptr<PreparedCompute> compute;
    std::vector<int> slots;
    std::vector<Tensor*> inputs;  // of this run
  };

  Status prepare_elements(const Location* location, int thread_count);
  Status prepare_plain();
  void classify_outputs();
  Status prepare_kernel(int thread_count);
  Status check_dtypes() const;
  Status ask_workspace();
  Status run_elements(std::span<Tensor* const> inputs, std::span<Tensor* const> outputs);
  Status bind_inputs(std::span<Tensor* const> inputs);
  Status bind_outputs(std::span<Tensor* const> inputs, std::span<Tensor* const> outputs);
  void bind_written(std::span<Tensor* const> inputs, size_t output, Tensor& tensor);
  Status fill_views(std::span<Tensor* const> inputs, std::span<Tensor* const> outputs) const;
  bool is_input_storage(std::span<Tensor* const> inputs, const Tensor& tensor) const;
  Status mismatch(std::string_view side, size_t slot, const TensorMeta& expected,
                  const Tensor* given) const;

  struct FreeDeleter {
    void operator()(void* pointer) const { std::free(pointer); }
  };

  const Op& op_;
  const Op& kernel_op_;               // the plain op of a variant, else op_
  std::shared_ptr<const Call> call_;  // of kernel_op_
  std::vector<int> slots_;            // the caller's input slot of each input slot of call_
  std::vector<OptionalOutput> outputs_;
  std::vector<OutputKind> kinds_;
  size_t input_count_;  // of the caller's call
  std::shared_ptr<const Location> location_;
  std::unique_ptr<AbiCall> abi_;
  const Kernel* kernel_ = nullptr;  // null: all outputs are views
  onedim_execution_t execution_{};
  std::unique_ptr<void, FreeDeleter> workspace_;
  std::vector<Tensor> temporaries_;  // per output, made when first needed
  std::vector<size_t> to_copy_;      // outputs of this run that were computed into their temporary
  std::vector<Element> elements_;    // of a list form, in the order in which they run
};

}  // namespace onedim
