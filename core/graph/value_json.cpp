#include "core/graph/value_json.hpp"

#include <simdjson.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

Result<Value> list_from_json(simdjson::dom::array array) {
  ValueList items;
  for (const simdjson::dom::element element : array) {
    Result<Value> item = value_from_json(element);
    if (!item.ok()) return annotate(item.status(), fmt::format("item {}", items.size()));
    items.push_back(*std::move(item));
  }
  return Value{std::move(items)};
}

Result<Value> dtype_from_json(simdjson::dom::object object) {
  std::string_view name;
  if (object.size() != 1 || object["dtype"].get(name) != simdjson::SUCCESS) {
    return invalid_argument("an object that is no value; expected {{\"dtype\": \"f32\"}}");
  }
  const Result<DType> dtype = parse_dtype(name);
  if (!dtype.ok()) return dtype.status();
  return Value{*dtype};
}

Json list_to_json(const ValueList& list) {
  Json items = Json::array();
  for (const Value& item : list) items.push_back(value_to_json(item));
  return items;
}

}  // namespace

Result<Value> value_from_json(const simdjson::dom::element& element) {
  switch (element.type()) {
    case simdjson::dom::element_type::ARRAY:
      return list_from_json(element.get_array().value_unsafe());
    case simdjson::dom::element_type::OBJECT:
      return dtype_from_json(element.get_object().value_unsafe());
    case simdjson::dom::element_type::INT64:
      return Value{element.get_int64().value_unsafe()};
    case simdjson::dom::element_type::UINT64:
      return invalid_argument("the integer {} does not fit 64 bits",
                              element.get_uint64().value_unsafe());
    case simdjson::dom::element_type::DOUBLE:
      return Value{element.get_double().value_unsafe()};
    case simdjson::dom::element_type::STRING:
      return Value{std::string(element.get_string().value_unsafe())};
    case simdjson::dom::element_type::BOOL:
      return Value{element.get_bool().value_unsafe()};
    case simdjson::dom::element_type::NULL_VALUE:
      break;
  }
  return Value{};
}

Json real_to_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json complex_to_json(std::complex<double> value) {
  return Json::array({real_to_json(value.real()), real_to_json(value.imag())});
}

Json value_to_json(const Value& value) {
  if (const bool* flag = value.get_if<bool>()) return *flag;
  if (const int64_t* integer = value.get_if<int64_t>()) return *integer;
  if (const double* real = value.get_if<double>()) return real_to_json(*real);
  if (const auto* complex = value.get_if<std::complex<double>>()) return complex_to_json(*complex);
  if (const std::string* text = value.get_if<std::string>()) return *text;
  if (const DType* dtype = value.get_if<DType>()) return {{"dtype", name_of(*dtype)}};
  if (const ValueList* list = value.get_if<ValueList>()) return list_to_json(*list);
  return nullptr;
}

}  // namespace onedim
