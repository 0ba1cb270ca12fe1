#pragma once
// Golden output: tensors as JSON in the format of golden calls: numbers at full precision, "nan",
// "inf", "-inf" as strings, complex numbers as [re,im] (see core/graph/value_json.hpp).

#include <nlohmann/json.hpp>
#include <optional>

#include "core/tensor/tensor.hpp"

namespace onedim {

// `{"tensor": {"dtype","shape","data"}}`, or null where absent.
nlohmann::ordered_json golden_json(const std::optional<Tensor>& tensor);
// The one element of a slot that stands for a number, as the schema returns it.
nlohmann::ordered_json golden_number_json(const Tensor& number);

}  // namespace onedim
