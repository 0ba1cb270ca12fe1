#include "tools/golden_calls.hpp"

#include <limits>

#include "core/graph/json_file.hpp"
#include "core/graph/value_json.hpp"

namespace onedim {
namespace {

using Element = simdjson::dom::element;

// The numbers that JSON cannot write.
std::optional<double> special_number(std::string_view text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<double> read_real(Element element) {
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) return special_number(text);
  double number = 0;
  if (element.get(number) == simdjson::SUCCESS) return number;
  return std::nullopt;
}

std::optional<std::complex<double>> read_complex(Element element) {
  simdjson::dom::array pair;
  if (element.get(pair) != simdjson::SUCCESS) return read_real(element);
  if (pair.size() != 2) return std::nullopt;
  const std::optional<double> real = read_real(pair.at(0));
  const std::optional<double> imaginary = read_real(pair.at(1));
  if (!real || !imaginary) return std::nullopt;
  return std::complex<double>(*real, *imaginary);
}

bool store_element(Element element, DType dtype, std::byte* target) {
  if (is_complex(dtype)) {
    const auto value = read_complex(element);
    if (value) store_complex(dtype, target, *value);
    return value.has_value();
  }
  if (is_floating(dtype)) {
    const auto value = read_real(element);
    if (value) store_real(dtype, target, *value);
    return value.has_value();
  }
  bool flag = false;
  int64_t integer = 0;
  if (dtype == DType::kBool && element.get(flag) == simdjson::SUCCESS) {
    integer = flag ? 1 : 0;
  } else if (element.get(integer) != simdjson::SUCCESS) {
    return false;
  }
  store_integer(dtype, target, integer);
  return true;
}

Result<Dims> read_shape(Element tensor) {
  simdjson::dom::array sizes;
  if (tensor["shape"].get(sizes) != simdjson::SUCCESS)
    return invalid_argument("a tensor needs \"shape\"");
  Dims shape;
  for (const Element size : sizes) {
    int64_t value = -1;
    if (size.get(value) != simdjson::SUCCESS || value < 0) {
      return invalid_argument("\"shape\" must list sizes >= 0");
    }
    shape.push_back(value);
  }
  if (checked_volume(shape) < 0)
    return invalid_argument("the shape {} is too large", format_dims(shape));
  return shape;
}

Result<Tensor> read_tensor(Element tensor) {
  std::string_view name;
  if (tensor["dtype"].get(name) != simdjson::SUCCESS)
    return invalid_argument("a tensor needs \"dtype\"");
  const Result<DType> dtype = parse_dtype(name);
  if (!dtype.ok()) return dtype.status();
  const Result<Dims> shape = read_shape(tensor);
  if (!shape.ok()) return shape.status();
  simdjson::dom::array data;
  if (tensor["data"].get(data) != simdjson::SUCCESS)
    return invalid_argument("a tensor needs \"data\"");
  int64_t count = 0;
  for ([[maybe_unused]] const Element element : data) ++count;
  if (count != volume(*shape)) {
    return invalid_argument("\"data\" has {} elements; the shape {} needs {}", count,
                            format_dims(*shape), volume(*shape));
  }
  Tensor result = Tensor::zeros(*dtype, *shape);
  int64_t index = 0;
  for (const Element element : data) {
    if (!store_element(element, *dtype, result.data() + index * size_of(*dtype))) {
      return invalid_argument("element {} of \"data\" is no {} value", index, name_of(*dtype));
    }
    ++index;
  }
  return result;
}

Result<GoldenValue> read_value(Element element);

Result<GoldenValue> read_list(simdjson::dom::array array) {
  GoldenList items;
  bool has_tensor = false;
  for (const Element element : array) {
    Result<GoldenValue> item = read_value(element);
    if (!item.ok()) return annotate(item.status(), fmt::format("item {}", items.size()));
    has_tensor = has_tensor || !std::holds_alternative<Value>(item->data);
    items.push_back(*std::move(item));
  }
  if (has_tensor) return GoldenValue{std::move(items)};
  ValueList values;
  for (GoldenValue& item : items) values.push_back(std::move(std::get<Value>(item.data)));
  return GoldenValue{Value{std::move(values)}};
}

Result<GoldenValue> read_plain(Element element) {
  Result<Value> value = value_from_json(element);
  if (!value.ok()) return value.status();
  return GoldenValue{*std::move(value)};
}

Result<GoldenValue> read_object(Element object) {
  Element tensor;
  if (object["tensor"].get(tensor) == simdjson::SUCCESS) {
    Result<Tensor> result = read_tensor(tensor);
    if (!result.ok()) return result.status();
    return GoldenValue{*std::move(result)};
  }
  if (object["dtype"].error() != simdjson::SUCCESS)
    return invalid_argument("an object must be {{\"tensor\": ..}} or {{\"dtype\": ..}}");
  return read_plain(object);
}

Result<GoldenValue> read_value(Element element) {
  if (element.is_array()) return read_list(element.get_array().value_unsafe());
  if (element.is_object()) return read_object(element);
  return read_plain(element);
}

Result<GoldenCall> read_call(Element element) {
  GoldenCall call;
  std::string_view op;
  if (element["op"].get(op) != simdjson::SUCCESS) return invalid_argument("a call needs \"op\"");
  call.op = op;
  simdjson::dom::object arguments;
  if (element["arguments"].get(arguments) != simdjson::SUCCESS) {
    return invalid_argument("a call needs an object \"arguments\"");
  }
  for (const auto field : arguments) {
    Result<GoldenValue> value = read_value(field.value);
    if (!value.ok()) return annotate(value.status(), fmt::format("arguments.{}", field.key));
    call.arguments.emplace_back(field.key, *std::move(value));
  }
  simdjson::dom::array outputs;
  if (element["outputs"].get(outputs) != simdjson::SUCCESS) return call;
  for (const Element output : outputs) {
    Result<GoldenValue> value = read_value(output);
    if (!value.ok())
      return annotate(value.status(), fmt::format("outputs[{}]", call.outputs.size()));
    call.outputs.push_back(*std::move(value));
  }
  return call;
}

}  // namespace

Result<std::vector<GoldenCall>> read_golden_calls(const std::string& path) {
  const Result<JsonFile> file = read_json_file(path, "onedim.golden_ops/1");
  if (!file.ok()) return file.status();
  simdjson::dom::array list;
  if (file->root["calls"].get(list) != simdjson::SUCCESS) {
    return invalid_argument("\"{}\" has no list \"calls\"", path);
  }
  std::vector<GoldenCall> calls;
  for (const Element element : list) {
    Result<GoldenCall> call = read_call(element);
    if (!call.ok())
      return annotate(call.status(), fmt::format("\"{}\": calls[{}]", path, calls.size()));
    calls.push_back(*std::move(call));
  }
  return calls;
}

}  // namespace onedim
