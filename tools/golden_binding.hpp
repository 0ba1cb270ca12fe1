#pragma once
// Golden binding: fits a golden call to an op's schema, so that it can run. The schema says what
// the file leaves open: a pair of numbers for a Scalar is complex, the string "inf" for a float is
// the number, a number for a Tensor is an attribute. Arguments of ATen that concern no computation
// on the CPU (device, layout, pin_memory, memory_format, generator) may be given to any op.

#include <optional>
#include <vector>

#include "core/pack/call.hpp"
#include "tools/golden_calls.hpp"

namespace onedim {

// The call, and the data of its input slots, nullopt where absent.
struct BoundCall {
  Call call;
  std::vector<std::optional<Tensor>> inputs;
};

Result<BoundCall> bind_golden_call(const Schema& schema, const GoldenCall& golden);

}  // namespace onedim
