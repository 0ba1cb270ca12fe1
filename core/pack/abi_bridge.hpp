#pragma once
// The bridge from core's values to the C structs of the ABI; with abi_read.cpp and staging.cpp the
// only code that sees both. AbiCall owns the C arrays of one call, so that a callback can be made
// many times with other data pointers. CallbackScope stands around every call into a pack.

#include <onedim/pack.h>

#include <memory>
#include <string>
#include <vector>

#include "core/pack/op.hpp"
#include "core/pack/sink.hpp"

namespace onedim {

class AbiCall {
 public:
  // All arguments are borrowed and must outlive this; `location` may be null.
  AbiCall(const Call& call, std::span<const OptionalOutput> outputs, const Location* location);
  ~AbiCall();
  AbiCall(const AbiCall&) = delete;
  AbiCall& operator=(const AbiCall&) = delete;

  const onedim_call_t* get() const { return &call_; }
  // Data pointer, shape and strides of slot `slot` for the next callback; the tensor must outlive
  // that.
  void bind_input(int slot, const Tensor& tensor) { bind(inputs_[slot], tensor); }
  void bind_output(int slot, const Tensor& tensor) { bind(outputs_[slot], tensor); }
  void set_identity(uint64_t seed, uint64_t call_id);

 private:
  static void bind(onedim_tensor_t& slot, const Tensor& tensor);
  onedim_value_t to_abi_value(const Value& value);
  void fill_arguments(const Call& call);

  struct Place;  // the C form of a location
  onedim_call_t call_{};
  std::vector<onedim_tensor_t> inputs_;
  std::vector<onedim_tensor_t> outputs_;
  std::vector<onedim_attribute_t> attributes_;
  std::vector<onedim_argument_t> arguments_;
  std::vector<std::vector<onedim_value_t>> lists_;  // values point into the inner vectors
  std::unique_ptr<Place> place_;
};

onedim_text_t to_text(std::string_view text);
std::string from_text(onedim_text_t text);  // copies; the caller has checked the pointer
onedim_placement_t to_abi(const Placement& placement);  // borrows the partial's name
onedim_tensor_t to_abi(const Tensor& tensor);           // borrows shape, strides and data

// While it lives, host->set_error of this thread writes to it.
class CallbackScope {
 public:
  CallbackScope();
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  // The callback's return code and text as a status in front of which `subject` (an op, a kind)
  // stands. A failure without a text is the pack's fault, and says so.
  Status finish(int32_t code, std::string_view subject, std::string_view callback,
                std::string_view pack) const;

 private:
  friend void set_callback_error(onedim_text_t text) noexcept;
  std::string text_;
  CallbackScope* outer_;
};

// The text of host->set_error; ignored outside a callback.
void set_callback_error(onedim_text_t text) noexcept;

}  // namespace onedim
