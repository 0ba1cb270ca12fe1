#include "tools/golden_output.hpp"

#include <cmath>

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

Json real_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json complex_json(std::complex<double> value) {
  return Json::array({real_json(value.real()), real_json(value.imag())});
}

Json element_json(DType dtype, const std::byte* element) {
  if (is_complex(dtype)) return complex_json(load_complex(dtype, element));
  if (is_floating(dtype)) return real_json(load_real(dtype, element));
  if (dtype == DType::kBool) return load_integer(dtype, element) != 0;
  return load_integer(dtype, element);
}

Json list_json(const ValueList& list) {
  Json items = Json::array();
  for (const Value& item : list) items.push_back(golden_json(item));
  return items;
}

}  // namespace

Json golden_json(const std::optional<Tensor>& tensor) {
  if (!tensor) return nullptr;
  Json data = Json::array();
  for (int64_t i = 0; i < tensor->element_count(); ++i) {
    data.push_back(element_json(tensor->dtype(), tensor->element(i)));
  }
  return {{"tensor",
           {{"dtype", name_of(tensor->dtype())},
            {"shape", tensor->shape()},
            {"data", std::move(data)}}}};
}

Json golden_number_json(const Tensor& number) {
  return element_json(number.dtype(), number.data());
}

Json golden_json(const Value& value) {
  if (const bool* flag = value.get_if<bool>()) return *flag;
  if (const int64_t* integer = value.get_if<int64_t>()) return *integer;
  if (const double* real = value.get_if<double>()) return real_json(*real);
  if (const auto* complex = value.get_if<std::complex<double>>()) return complex_json(*complex);
  if (const std::string* text = value.get_if<std::string>()) return *text;
  if (const DType* dtype = value.get_if<DType>()) return {{"dtype", name_of(*dtype)}};
  if (const ValueList* list = value.get_if<ValueList>()) return list_json(*list);
  return nullptr;
}

}  // namespace onedim
