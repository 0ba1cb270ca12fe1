#pragma once
// Value: one attribute of a call, as it crosses the ABI: none, bool, int, float, complex, string,
// dtype or a list of values. On the command line values are JSON, or bare words for strings,
// dtypes, inf, -inf and nan; a JSON number with a point or an exponent is a float.

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tensor/dtype.hpp"

namespace onedim {

struct Value;
using ValueList = std::vector<Value>;

struct Value {
  std::variant<std::monostate, bool, int64_t, double, std::complex<double>, std::string, DType,
               ValueList>
      data;

  bool is_none() const { return data.index() == 0; }
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data);
  }
  bool operator==(const Value&) const = default;
};

// A bare word that names a dtype becomes a DType, any other bare word a string.
Result<Value> parse_value(std::string_view text);
// Text that parse_value reads back to an equal value: `[1,2]`, `0.5`, `bf16`, `"a b"`, `1+2j`,
// `null`.
std::string format_value(const Value& value);

}  // namespace onedim
