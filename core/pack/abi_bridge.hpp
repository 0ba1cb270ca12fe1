#pragma once
// The bridge between C structs of the ABI and core's values; with staging.cpp the only code that sees both.
// AbiCall owns the C arrays of one call, so that a callback can be made many times with other data pointers.

#include <onedim/pack.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/pack/op.hpp"

namespace onedim {

class AbiCall {
 public:
  // Everything is copied; `location` may be null.
  AbiCall(const Call& call, std::span<const OptionalOutput> outputs, const Location* location);
  AbiCall(const AbiCall&) = delete;
  AbiCall& operator=(const AbiCall&) = delete;

  const onedim_call_t* get() const { return &call_; }
  // Data pointers and strides of slot `slot` for the next callback.
  void bind_input(int slot, Tensor* tensor);
  void bind_output(int slot, Tensor* tensor);

 private:
  onedim_call_t call_{};
  struct Storage;
  std::shared_ptr<Storage> storage_;
};

onedim_text_t to_text(std::string_view text);
std::string from_text(onedim_text_t text);  // copies; the caller has checked the pointer
onedim_placement_t to_abi(const Placement& placement);  // borrows the partial's name

// What a callback emitted, and the message it left with set_error.
struct Sink {
  std::vector<OptionalOutput> outputs;
  std::vector<Rule> rules;
  std::vector<std::string> samples;
  Status fault;  // the first ill-formed emission
};
onedim_sink_t* to_abi(Sink* sink);
Sink* from_abi(onedim_sink_t* sink);

// Turns a callback's return code and its error text into a status that names `where`. Clears the text.
Status callback_status(int32_t code, std::string_view where);
// Stores the text of host->set_error for the current thread.
void set_callback_error(int32_t status, std::string text);

}  // namespace onedim
