#include "core/graph/json_keys.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/text.hpp"

namespace onedim {
namespace {

Status unknown_key(std::string_view key, std::span<const std::string_view> known) {
  const std::vector<std::string> names(known.begin(), known.end());
  return invalid_argument("unknown key {}, expected one of {}{}", quoted_excerpt(key),
                          fmt::join(names, " "), did_you_mean(key, names));
}

}  // namespace

Result<JsonKeys> JsonKeys::create(simdjson::dom::element element,
                                  std::span<const std::string_view> known) {
  simdjson::dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return invalid_argument("expected an object");
  uint64_t seen = 0;  // bit per known key
  for (const simdjson::dom::key_value_pair field : object) {
    const auto found = std::find(known.begin(), known.end(), field.key);
    if (found == known.end()) return unknown_key(field.key, known);
    const uint64_t bit = uint64_t{1} << (found - known.begin());
    if ((seen & bit) != 0) return invalid_argument("key \"{}\" is there twice", field.key);
    seen |= bit;
  }
  return JsonKeys(object);
}

bool JsonKeys::has(std::string_view key) const { return object_[key].error() == simdjson::SUCCESS; }

template <typename T>
Result<T> JsonKeys::get(std::string_view key, std::string_view expected) const {
  T value;
  const simdjson::error_code error = object_[key].get(value);
  if (error == simdjson::SUCCESS) return value;
  if (error == simdjson::NO_SUCH_FIELD) return invalid_argument("\"{}\" is missing", key);
  return invalid_argument("\"{}\" must be {}", key, expected);
}

Result<std::string_view> JsonKeys::text(std::string_view key) const {
  return get<std::string_view>(key, "a string");
}

Result<int> JsonKeys::whole(std::string_view key, int least) const {
  constexpr int kMost = std::numeric_limits<int>::max();
  const std::string expected = fmt::format("a whole number from {} on", least);
  const Result<int64_t> value = get<int64_t>(key, expected);
  if (!value.ok()) return value.status();
  if (*value < least || *value > kMost)
    return invalid_argument("\"{}\" must be {}, not {}", key, expected, *value);
  return static_cast<int>(*value);
}

Result<int64_t> JsonKeys::count(std::string_view key) const {
  const Result<int64_t> value = get<int64_t>(key, "a whole number from 0 on");
  if (value.ok() && *value < 0)
    return invalid_argument("\"{}\" must be a whole number from 0 on, not {}", key, *value);
  return value;
}

Result<double> JsonKeys::real(std::string_view key) const { return get<double>(key, "a number"); }

Result<bool> JsonKeys::flag(std::string_view key) const { return get<bool>(key, "true or false"); }

Result<simdjson::dom::array> JsonKeys::list(std::string_view key) const {
  return get<simdjson::dom::array>(key, "a list");
}

Result<simdjson::dom::object> JsonKeys::object(std::string_view key) const {
  return get<simdjson::dom::object>(key, "an object");
}

}  // namespace onedim
