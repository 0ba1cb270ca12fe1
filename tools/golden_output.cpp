#include "tools/golden_output.hpp"

#include "core/graph/value_json.hpp"

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

Json element_json(DType dtype, const std::byte* element) {
  if (is_complex(dtype)) return complex_to_json(load_complex(dtype, element));
  if (is_floating(dtype)) return real_to_json(load_real(dtype, element));
  if (dtype == DType::kBool) return load_integer(dtype, element) != 0;
  return load_integer(dtype, element);
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

}  // namespace onedim
