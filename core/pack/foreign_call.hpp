#pragma once
// ForeignCall: says, while it lives, which pack's code runs, at a place that a watching process
// shares; so a crash, or an `_exit` out of the middle of it, can be told by name. Costs nothing
// where no place is set. Of several threads the last to begin is named.

#include <array>
#include <string_view>

#include "core/pack/op.hpp"

namespace onedim {

// Zero-terminated; empty while no pack's code runs.
using ForeignCallText = std::array<char, 256>;

// Where to say it from here on; null, as at the start, for nowhere. Must outlive all calls.
void set_foreign_call_place(ForeignCallText* place);

class ForeignCall {
 public:
  // `pack NAME, WHAT of op OP`, such as `pack mylib, the samples of op mylib.halve`.
  ForeignCall(std::string_view pack, std::string_view what, std::string_view op = {});
  ForeignCall(const Op& op, std::string_view what) : ForeignCall(op.pack, what, op.name()) {}
  ~ForeignCall();
  ForeignCall(const ForeignCall&) = delete;
  ForeignCall& operator=(const ForeignCall&) = delete;

 private:
  ForeignCallText outer_;
};

}  // namespace onedim
