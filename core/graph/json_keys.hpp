#pragma once
// JSON keys: reads an object of which every key is known: an unknown key is an error that names the
// nearest known one, a key may not stand twice, and what is missing or of another type is told by
// name.

#include <simdjson.h>

#include <span>
#include <string>
#include <string_view>

#include "core/base/status.hpp"

namespace onedim {

class JsonKeys {
 public:
  // `element` must be an object whose keys are among `known`.
  static Result<JsonKeys> create(simdjson::dom::element element,
                                 std::span<const std::string_view> known);

  bool has(std::string_view key) const;
  // Errors say which key is missing, or what it should be.
  Result<std::string_view> text(std::string_view key) const;
  Result<int> whole(std::string_view key, int least) const;
  Result<int64_t> count(std::string_view key) const;  // 0 or more
  Result<double> real(std::string_view key) const;
  Result<bool> flag(std::string_view key) const;
  Result<simdjson::dom::array> list(std::string_view key) const;
  Result<simdjson::dom::object> object(std::string_view key) const;

 private:
  explicit JsonKeys(simdjson::dom::object object) : object_(object) {}
  template <typename T>
  Result<T> get(std::string_view key, std::string_view expected) const;

  simdjson::dom::object object_;
};

}  // namespace onedim
