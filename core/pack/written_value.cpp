#include "core/pack/written_value.hpp"

#include <limits>
#include <optional>

namespace onedim {
namespace {

std::optional<double> as_number(const Value& value) {
  if (const double* real = value.get_if<double>()) return *real;
  if (const int64_t* integer = value.get_if<int64_t>()) return static_cast<double>(*integer);
  const std::string* text = value.get_if<std::string>();
  if (text == nullptr) return std::nullopt;
  if (*text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (*text == "inf") return std::numeric_limits<double>::infinity();
  if (*text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

Value read_dtype(Value value) {
  const std::string* name = value.get_if<std::string>();
  if (name == nullptr) return value;
  const Result<DType> dtype = parse_dtype(*name);
  return dtype.ok() ? Value{*dtype} : value;
}

bool is_number(ArgumentType type) {
  return type == ArgumentType::kScalar || type == ArgumentType::kFloat ||
         type == ArgumentType::kComplex || type == ArgumentType::kTensor;
}

Value read_single(ArgumentType type, Value value) {
  if (type == ArgumentType::kDType) return read_dtype(std::move(value));
  return is_number(type) ? read_written_number(std::move(value)) : value;
}

}  // namespace

Value read_written_number(Value value) {
  if (value.get_if<std::string>() != nullptr) {
    const std::optional<double> number = as_number(value);
    return number ? Value{*number} : value;
  }
  const ValueList* pair = value.get_if<ValueList>();
  if (pair == nullptr || pair->size() != 2) return value;
  const std::optional<double> real = as_number((*pair)[0]);
  const std::optional<double> imaginary = as_number((*pair)[1]);
  if (!real || !imaginary) return value;
  return Value{std::complex<double>(*real, *imaginary)};
}

Value read_written(const Argument& argument, Value value) {
  if (!argument.is_list) return read_single(argument.type, std::move(value));
  if (ValueList* items = std::get_if<ValueList>(&value.data)) {
    for (Value& item : *items) item = read_single(argument.type, std::move(item));
  }
  return value;
}

}  // namespace onedim
