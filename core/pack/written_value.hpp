#pragma once
// Written value: a value as files write it (value_json.hpp), turned into what the argument's type
// means by it: "inf" for a number, `[re,im]` for a complex Scalar, "bf16" for a dtype. What fits
// none of these stays as it is, for make_call to judge.

#include "core/pack/schema.hpp"

namespace onedim {

// A single value where a number is meant.
Value read_written_number(Value value);
Value read_written(const Argument& argument, Value value);

}  // namespace onedim
