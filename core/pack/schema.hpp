#pragma once
// Schema: an op's one-line signature in ATen's style, alias marks included, e.g.
// `addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor` or
// `add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)`. The name is the
// whole op name (overload after the point). `-> ()` is an op without output; `-> (Tensor values,
// Tensor indices)` names outputs; `Tensor?` may be absent, as argument and as output; `Tensor[]`,
// `Tensor?[]` are lists. `-> bool` (int, float, complex, Scalar) returns a number: its output slot
// is a tensor without dims, so that rules place it like any other, of the dtype that holds such
// numbers.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/value.hpp"

namespace onedim {

enum class ArgumentType { kTensor, kBool, kInt, kFloat, kComplex, kScalar, kString, kDType, kAny };

struct Argument {
  std::string name;
  ArgumentType type = ArgumentType::kTensor;
  bool is_list = false;
  bool optional = false;           // `T?`, `T[]?`
  bool optional_elements = false;  // `T?[]`
  int64_t fixed_size = 0;          // `int[2]`: a single value stands for the whole list; 0: any
  bool keyword_only = false;
  std::optional<Value> default_value;
  std::string alias;        // `a` of `Tensor(a!)`, or ""
  bool is_written = false;  // the `!`

  bool is_tensor() const { return type == ArgumentType::kTensor; }
};

struct ReturnSlot {
  std::string name;  // may be ""
  ArgumentType type = ArgumentType::kTensor;
  bool is_list = false;
  bool optional = false;
  std::string alias;
  bool is_written = false;

  bool is_tensor() const { return type == ArgumentType::kTensor; }
};

struct Schema {
  std::string name;  // `add.Tensor`
  std::vector<Argument> arguments;
  std::vector<ReturnSlot> returns;

  const Argument* find(std::string_view name) const;
  int index_of(std::string_view name) const;  // -1 if there is none
};

// Errors point at the character. Types beyond those of ArgumentType (ScalarType = dtype; SymInt =
// int; Layout, Device, MemoryFormat, Generator = any) are read as ATen writes them.
Result<Schema> parse_schema(std::string_view text);
std::string format_schema(const Schema& schema);

// `int[2]? stride`, without alias marks; for messages.
std::string format_type(const Argument& argument);

// The dtypes that the slot of a returned number of this type may have: a Scalar is bool, i64, f64
// or c128. None for types that are no numbers.
std::span<const DType> number_dtypes(ArgumentType type);

// `value` as the schema's type wants it: an int becomes a float, a single value stands for a list
// with a fixed size (which, as in ATen, a given list need not have), a word that names a dtype is a
// string again.
Result<Value> fit_value(const Argument& argument, Value value);

}  // namespace onedim
