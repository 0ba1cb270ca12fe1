#pragma once
// Golden calls: the file format `onedim.golden_ops/1`: calls of ops with concrete arguments and
// results.
// `{"calls":[{"op", "arguments": {name: value}, "outputs": [value]}]}`; a value is
// `{"tensor": {"dtype","shape","data"}}` (row-major, complex as [re,im], "nan" "inf" "-inf"),
// `{"dtype": "f32"}`, a number, bool, string, null or a list of values. Where a value is meant as a
// number but JSON has none for it (a complex Scalar, inf), the schema decides: see
// golden_binding.hpp.

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/tensor/tensor.hpp"
#include "core/tensor/value.hpp"

namespace onedim {

struct GoldenValue;
using GoldenList = std::vector<GoldenValue>;

// A list without any tensor in it is a Value.
struct GoldenValue {
  std::variant<Value, Tensor, GoldenList> data;
};

struct GoldenCall {
  std::string op;
  std::vector<std::pair<std::string, GoldenValue>> arguments;
  GoldenList outputs;
};

// The file is plain or gzip; errors name the place in it.
Result<std::vector<GoldenCall>> read_golden_calls(const std::string& path);

}  // namespace onedim
