#pragma once
// Value JSON: attributes as files write them: numbers, bools, strings, null and lists as they are,
// a dtype as `{"dtype":"f32"}`. JSON has no complex numbers and none that are not finite: these are
// written `[re,im]`, "nan", "inf" and "-inf", and read back as lists and strings, since only a
// schema tells them apart (see written_value.hpp).

#include <nlohmann/json_fwd.hpp>

#include "core/tensor/value.hpp"

namespace simdjson::dom {
class element;
}

namespace onedim {

Result<Value> value_from_json(const simdjson::dom::element& element);
nlohmann::ordered_json value_to_json(const Value& value);

// A double as above.
nlohmann::ordered_json real_to_json(double value);
nlohmann::ordered_json complex_to_json(std::complex<double> value);

}  // namespace onedim
