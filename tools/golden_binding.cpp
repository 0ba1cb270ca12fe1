#include "tools/golden_binding.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/pack/written_value.hpp"

namespace onedim {
namespace {

constexpr std::array<std::string_view, 5> kFreeNames = {"device", "generator", "layout",
                                                        "memory_format", "pin_memory"};

bool is_free_name(std::string_view name) {
  return std::find(kFreeNames.begin(), kFreeNames.end(), name) != kFreeNames.end();
}

// What the golden arguments become, in the shape that make_call takes.
struct Binder {
  const Schema& schema;
  std::vector<std::vector<OptionalMeta>> tensors;
  std::vector<std::vector<std::optional<Tensor>>> data;
  std::vector<std::pair<std::string, Value>> attributes;

  void add_tensor(int argument, std::optional<Tensor> tensor) {
    tensors[argument].push_back(tensor ? OptionalMeta(tensor->meta()) : std::nullopt);
    data[argument].push_back(std::move(tensor));
  }

  Status add_tensor_list(int index, const GoldenList& list) {
    for (const GoldenValue& item : list) {
      const Value* value = std::get_if<Value>(&item.data);
      if (value != nullptr && value->is_none()) {
        add_tensor(index, std::nullopt);
      } else if (const Tensor* tensor = std::get_if<Tensor>(&item.data)) {
        add_tensor(index, *tensor);
      } else {
        return invalid_argument("\"{}\" must be a list of tensors", schema.arguments[index].name);
      }
    }
    return absl::OkStatus();
  }

  Status add_value(int index, Value value) {
    const Argument& argument = schema.arguments[index];
    if (!argument.is_tensor()) {
      attributes.emplace_back(argument.name, read_written(argument, std::move(value)));
      return absl::OkStatus();
    }
    if (argument.is_list) {
      const ValueList* items = value.get_if<ValueList>();
      if (value.is_none() && argument.optional) return absl::OkStatus();
      if (items == nullptr)
        return invalid_argument("\"{}\" must be a list of tensors", argument.name);
      GoldenList list;
      for (const Value& item : *items) list.push_back({item});
      return add_tensor_list(index, list);
    }
    if (value.is_none()) {
      add_tensor(index, std::nullopt);
    } else {
      attributes.emplace_back(argument.name, read_written(argument, std::move(value)));
    }
    return absl::OkStatus();
  }

  Status add(const std::string& name, const GoldenValue& golden) {
    const int index = schema.index_of(name);
    if (index < 0) return unknown_argument(name);
    const Argument& argument = schema.arguments[index];
    if (const Value* value = std::get_if<Value>(&golden.data)) return add_value(index, *value);
    if (!argument.is_tensor()) return invalid_argument("\"{}\" takes no tensor", name);
    if (const GoldenList* list = std::get_if<GoldenList>(&golden.data)) {
      if (!argument.is_list) return invalid_argument("\"{}\" takes one tensor, not a list", name);
      return add_tensor_list(index, *list);
    }
    if (argument.is_list) return invalid_argument("\"{}\" must be a list of tensors", name);
    add_tensor(index, std::get<Tensor>(golden.data));
    return absl::OkStatus();
  }

  Status unknown_argument(const std::string& name) const {
    if (is_free_name(name)) return absl::OkStatus();
    std::vector<std::string> names;
    for (const Argument& argument : schema.arguments) names.push_back(argument.name);
    return invalid_argument("{} has no argument \"{}\"{}", schema.name, name,
                            did_you_mean(name, names));
  }

  // Tensors that the call does not mention are absent, where the schema allows it.
  Status add_absent_tensors(const GoldenCall& golden) {
    for (size_t index = 0; index < schema.arguments.size(); ++index) {
      const Argument& argument = schema.arguments[index];
      if (!argument.is_tensor()) continue;
      const bool is_given =
          std::any_of(golden.arguments.begin(), golden.arguments.end(),
                      [&](const auto& given) { return given.first == argument.name; });
      if (is_given) continue;
      if (!argument.optional)
        return invalid_argument("{} needs \"{}\"", schema.name, argument.name);
      if (!argument.is_list) add_tensor(static_cast<int>(index), std::nullopt);
    }
    return absl::OkStatus();
  }
};

}  // namespace

Result<BoundCall> bind_golden_call(const Schema& schema, const GoldenCall& golden) {
  const size_t count = schema.arguments.size();
  Binder binder{schema,
                std::vector<std::vector<OptionalMeta>>(count),
                std::vector<std::vector<std::optional<Tensor>>>(count),
                {}};
  for (const auto& [name, value] : golden.arguments) {
    const Status status = binder.add(name, value);
    if (!status.ok()) return status;
  }
  const Status status = binder.add_absent_tensors(golden);
  if (!status.ok()) return status;
  Result<Call> call = make_call(schema, std::move(binder.tensors), std::move(binder.attributes));
  if (!call.ok()) return call.status();
  BoundCall bound{*std::move(call), {}};
  for (auto& slots : binder.data)
    std::move(slots.begin(), slots.end(), std::back_inserter(bound.inputs));
  return bound;
}

}  // namespace onedim
