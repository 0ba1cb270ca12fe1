#include "core/pack/call.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"

namespace onedim {
namespace {

using Attributes = std::vector<std::pair<std::string, Value>>;

constexpr std::array<std::string_view, 5> kIgnoredNames = {"device", "layout", "pin_memory",
                                                           "memory_format", "generator"};

const Value* find_value(const Attributes& attributes, std::string_view name) {
  for (const auto& [key, value] : attributes) {
    if (key == name) return &value;
  }
  return nullptr;
}

Status check_names(const Schema& schema, const Attributes& attributes) {
  for (size_t i = 0; i < attributes.size(); ++i) {
    const std::string& name = attributes[i].first;
    if (find_value(attributes, name) != &attributes[i].second) {
      return invalid_argument("{}: argument \"{}\" is given twice", schema.name, name);
    }
    if (schema.find(name) != nullptr) continue;
    if (std::find(kIgnoredNames.begin(), kIgnoredNames.end(), name) != kIgnoredNames.end())
      continue;
    std::vector<std::string> names;
    for (const Argument& argument : schema.arguments) names.push_back(argument.name);
    return invalid_argument("{} has no argument \"{}\"; its signature is {}{}", schema.name, name,
                            format_schema(schema), did_you_mean(name, names));
  }
  return absl::OkStatus();
}

// A number in place of a tensor, an absent one, or an error.
Status add_missing_tensor(const Argument& argument, const Value* value, Call& call,
                          SlotRange& range) {
  if (value != nullptr && !value->is_none()) {
    if (argument.is_list || argument.is_written) {
      return invalid_argument("argument \"{}\" must be a tensor{}, not {}", argument.name,
                              argument.is_list ? " list" : "", format_value(*value));
    }
    Result<Value> number = fit_value(argument, *value);
    if (!number.ok()) return number.status();
    call.attributes.emplace_back(argument.name, *std::move(number));
    return absl::OkStatus();
  }
  range.first = static_cast<int>(call.inputs.size());
  if (argument.is_list) return absl::OkStatus();
  if (!argument.optional) return invalid_argument("tensor \"{}\" is missing", argument.name);
  range.count = 1;
  call.inputs.emplace_back(std::nullopt);
  return absl::OkStatus();
}

Status add_tensors(const Argument& argument, std::vector<OptionalMeta> metas, const Value* value,
                   Call& call, SlotRange& range) {
  if (metas.empty()) return add_missing_tensor(argument, value, call, range);
  if (value != nullptr) {
    return invalid_argument("argument \"{}\" is given both as a tensor and as {}", argument.name,
                            format_value(*value));
  }
  if (!argument.is_list && metas.size() > 1) {
    return invalid_argument("argument \"{}\" is one tensor, not {}", argument.name, metas.size());
  }
  const bool may_be_absent = argument.is_list ? argument.optional_elements : argument.optional;
  range = {static_cast<int>(call.inputs.size()), static_cast<int>(metas.size())};
  for (OptionalMeta& meta : metas) {
    if (!meta && !may_be_absent) {
      return invalid_argument("{} \"{}\" must not be absent",
                              argument.is_list ? "an element of" : "tensor", argument.name);
    }
    call.inputs.push_back(std::move(meta));
  }
  return absl::OkStatus();
}

Status add_attribute(const Argument& argument, const Value* value, Call& call) {
  if (value == nullptr && argument.default_value) value = &*argument.default_value;
  if (value == nullptr && !argument.optional && argument.type != ArgumentType::kAny) {
    return invalid_argument("argument \"{}\" ({}) is missing", argument.name,
                            format_type(argument));
  }
  Result<Value> fitted = fit_value(argument, value == nullptr ? Value{} : *value);
  if (!fitted.ok()) return fitted.status();
  call.attributes.emplace_back(argument.name, *std::move(fitted));
  return absl::OkStatus();
}

}  // namespace

const Value* Call::attribute(std::string_view name) const { return find_value(attributes, name); }

Result<Call> make_call(const Schema& schema, std::vector<std::vector<OptionalMeta>> tensors,
                       std::vector<std::pair<std::string, Value>> attributes) {
  if (Status status = check_names(schema, attributes); !status.ok()) return status;
  tensors.resize(std::max(tensors.size(), schema.arguments.size()));
  Call call;
  call.schema = &schema;
  call.arguments.resize(schema.arguments.size());
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Argument& argument = schema.arguments[i];
    const Value* value = find_value(attributes, argument.name);
    if (!argument.is_tensor() && !tensors[i].empty()) {
      return invalid_argument("{}: argument \"{}\" is {}, not a tensor", schema.name, argument.name,
                              format_type(argument));
    }
    Status status = argument.is_tensor() ? add_tensors(argument, std::move(tensors[i]), value, call,
                                                       call.arguments[i])
                                         : add_attribute(argument, value, call);
    if (!status.ok()) return annotate(status, schema.name);
  }
  return call;
}

}  // namespace onedim
