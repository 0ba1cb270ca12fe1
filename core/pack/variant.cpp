#include "core/pack/variant.hpp"

#include <algorithm>

#include "core/pack/infer_check.hpp"
#include "core/pack/list_form.hpp"

namespace onedim {
namespace {

// Classes of dtypes in promotion order: a result may be stored in its own class or a later one.
int promotion_class(DType dtype) {
  if (dtype == DType::kBool) return 0;
  if (is_integral(dtype)) return 1;
  return is_complex(dtype) ? 3 : 2;
}

Status check_written(const Op& op, const OptionalOutput& result, const OptionalMeta& target,
                     int output) {
  if (result.has_value() != target.has_value()) {
    return invalid_argument("{}: output {} is {}, but the tensor to write is {}", op.name(), output,
                            result ? "there" : "absent", target ? "given" : "absent");
  }
  if (!result) return absl::OkStatus();
  const TensorMeta& meta = result->meta;
  const bool is_out = op.variant == Variant::kOut;
  if (meta.shape != target->shape) {
    if (is_out && target->element_count() == 0) {
      return unimplemented("{}: out= of shape {} would be resized to {}; give it that shape",
                           op.name(), format_dims(target->shape), format_dims(meta.shape));
    }
    return invalid_argument("{}: output with shape {} doesn't match the {} shape {}", op.name(),
                            format_dims(target->shape), is_out ? "result's" : "broadcast",
                            format_dims(meta.shape));
  }
  if (promotion_class(meta.dtype) > promotion_class(target->dtype)) {
    return invalid_argument("{}: result type {} can't be cast to the desired output type {}",
                            op.name(), name_of(meta.dtype), name_of(target->dtype));
  }
  if (may_overlap_itself(*target)) {
    return invalid_argument(
        "{}: more than one element of the written tensor {} refers to a single memory "
        "location (strides {}); clone it first",
        op.name(), format_meta(*target), format_dims(target->strides));
  }
  return absl::OkStatus();
}

Status check_returns(const Op& variant) {
  std::vector<std::string> aliases;
  for (const int index : variant.written_arguments)
    aliases.push_back(variant.schema.arguments[index].alias);
  size_t next = 0;
  for (const ReturnSlot& slot : variant.schema.returns) {
    if (!slot.is_written || next == aliases.size() || slot.alias != aliases[next++]) {
      return invalid_argument("{}: a variant returns its written arguments in their order",
                              variant.name());
    }
  }
  return absl::OkStatus();
}

void copy_attribute(const Argument& argument, const Call& from, Call& to) {
  const Value* value = from.attribute(argument.name);
  if (value == nullptr && argument.default_value) value = &*argument.default_value;
  to.attributes.emplace_back(argument.name, value == nullptr ? Value{} : *value);
}

void copy_tensors(int index, const Call& from, SlotRange& range, PlainCall& to) {
  const SlotRange source = index < 0 ? SlotRange{0, 0} : from.arguments[index];
  range = {static_cast<int>(to.call.inputs.size()), source.count};
  for (int slot = source.first; slot < source.first + source.count; ++slot) {
    to.call.inputs.push_back(from.inputs[slot]);
    to.slots.push_back(slot);
  }
}

// One sample of the plain op as the variant's, or "" if it has none.
Result<std::string> variant_sample(const Op& op, const std::string& text) {
  Result<CallText> plain = parse_call(op.plain->schema, text);
  if (!plain.ok()) return plain.status();
  Result<std::vector<OptionalOutput>> results = op.plain->infer(plain->call);
  if (!results.ok()) return results.status();
  std::vector<std::vector<OptionalMeta>> tensors(op.schema.arguments.size());
  std::vector<std::pair<std::string, Value>> attributes;
  std::vector<Domain> domains;
  size_t next_output = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Argument& argument = op.schema.arguments[i];
    const int index = op.plain->schema.index_of(argument.name);
    if (index < 0) {
      const size_t end =
          argument.is_list ? results->size() : std::min(next_output + 1, results->size());
      for (; next_output < end; ++next_output) {
        const OptionalOutput& result = (*results)[next_output];
        tensors[i].push_back(
            result ? OptionalMeta(TensorMeta::contiguous(result->meta.dtype, result->meta.shape))
                   : OptionalMeta());
        domains.emplace_back();
      }
      continue;
    }
    if (const Value* value = plain->call.attribute(argument.name))
      attributes.emplace_back(argument.name, *value);
    const SlotRange range = plain->call.arguments[index];
    for (int slot = range.first; slot < range.first + range.count; ++slot) {
      tensors[i].push_back(plain->call.inputs[slot]);
      domains.push_back(plain->domains[slot]);
    }
  }
  Result<Call> call = make_call(op.schema, std::move(tensors), std::move(attributes));
  if (!call.ok() || !op.infer(*call).ok()) return std::string();
  return format_call(*call, domains);
}

}  // namespace

namespace {

// Whether the schemas' arguments belong together, by name.
Status check_arguments(const Op& variant, const Op& plain) {
  for (size_t i = 0; i < variant.schema.arguments.size(); ++i) {
    const Argument& argument = variant.schema.arguments[i];
    const Argument* same = plain.schema.find(argument.name);
    if (same == nullptr && !argument.is_written) {
      return invalid_argument("{}: argument \"{}\" is not written and {} has none of that name",
                              variant.name(), argument.name, plain.name());
    }
    const bool may_lack = argument.optional && same != nullptr && !same->optional;
    if (same != nullptr &&
        (same->type != argument.type || same->is_list != argument.is_list || may_lack)) {
      return invalid_argument("{}: argument \"{}\" is {}, but {} has {}", variant.name(),
                              argument.name, format_type(argument), plain.name(),
                              format_type(*same));
    }
  }
  for (const Argument& argument : plain.schema.arguments) {
    if (variant.schema.find(argument.name) != nullptr || argument.optional ||
        argument.default_value)
      continue;
    return invalid_argument("{} lacks the argument \"{}\" of {}", variant.name(), argument.name,
                            plain.name());
  }
  return absl::OkStatus();
}

// Whether the plain op reads the variant's argument number `index`.
bool is_read(const Op& variant, const Op& plain, int index) {
  if (!variant.is_list_form())
    return plain.schema.find(variant.schema.arguments[index].name) != nullptr;
  const std::vector<int>& read = variant.element_arguments;
  return std::find(read.begin(), read.end(), index) != read.end();
}

// What the variant does with its results.
Result<Variant> kind_of(const Op& variant, const Op& plain) {
  if (variant.written_arguments.empty()) return Variant::kList;
  const auto read =
      std::count_if(variant.written_arguments.begin(), variant.written_arguments.end(),
                    [&](int index) { return is_read(variant, plain, index); });
  if (read != 0 && read != static_cast<int64_t>(variant.written_arguments.size())) {
    return invalid_argument("{} writes both arguments of {} and others", variant.name(),
                            plain.name());
  }
  if (Status status = check_returns(variant); !status.ok()) return status;
  return read > 0 ? Variant::kInPlace : Variant::kOut;
}

std::string summary_of(const Op& variant) {
  const std::string_view lists = variant.is_list_form() ? " over lists" : "";
  if (variant.variant == Variant::kList) return fmt::format("{}{}", variant.plain->name(), lists);
  return fmt::format("{} form of {}{}", variant.variant == Variant::kInPlace ? "in-place" : "out=",
                     variant.plain->name(), lists);
}

void set_example(Op& variant) {
  if (!variant.example.empty() || variant.plain->example.empty()) return;
  Result<std::string> example = variant.is_list_form()
                                    ? example_of_list_form(variant)
                                    : variant_sample(variant, variant.plain->example);
  if (example.ok()) variant.example = *std::move(example);
}

Result<PlainCall> plain_call(const Op& op, const Call& call) {
  PlainCall result;
  const Schema& schema = op.plain->schema;
  result.call.schema = &schema;
  result.call.seed = call.seed;
  result.call.call_id = call.call_id;
  result.call.arguments.resize(schema.arguments.size());
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Argument& argument = schema.arguments[i];
    const int index = op.schema.index_of(argument.name);
    const bool has_slots = argument.is_tensor() && (index < 0 || call.arguments[index].first >= 0);
    if (has_slots) {
      copy_tensors(index, call, result.call.arguments[i], result);
    } else {
      copy_attribute(argument, call, result.call);
    }
    if (has_slots && !argument.is_list && result.call.arguments[i].count == 0) {
      result.call.arguments[i].count = 1;  // an optional tensor that only the plain op has
      result.call.inputs.emplace_back(std::nullopt);
      result.slots.push_back(-1);
    }
  }
  return result;
}

}  // namespace

Status link_variant(Op& variant, const Op& plain) {
  if (!plain.variant_of.empty()) {
    return invalid_argument("{} is a variant of {}, which is one itself; name {}", variant.name(),
                            plain.name(), plain.variant_of);
  }
  Status status = is_list_form(variant.schema, plain.schema) ? check_list_form(variant, plain)
                                                             : check_arguments(variant, plain);
  if (!status.ok()) return status;
  const Result<Variant> kind = kind_of(variant, plain);
  if (!kind.ok()) return kind.status();
  if (*kind == Variant::kList && !variant.is_list_form()) {
    return invalid_argument("{} neither writes an argument nor is {} over lists", variant.name(),
                            plain.name());
  }
  variant.plain = &plain;
  variant.variant = *kind;
  variant.flags |= plain.flags;
  variant.size_attributes = plain.size_attributes;
  if (variant.gradient_ops.empty()) variant.gradient_ops = plain.gradient_ops;
  if (variant.summary.empty()) variant.summary = summary_of(variant);
  set_example(variant);
  return absl::OkStatus();
}

Result<std::vector<PlainCall>> plain_calls(const Op& op, const Call& call) {
  if (op.is_list_form()) return element_calls(op, call);
  Result<PlainCall> plain = plain_call(op, call);
  if (!plain.ok()) return plain.status();
  return std::vector<PlainCall>{*std::move(plain)};
}

Location location_of_plain(const Location& location, const PlainCall& plain) {
  Location place = location;
  place.inputs.clear();
  const SlotLocation absent{
      {}, {}, std::vector<Placement>(location.mesh_shape.size(), Placement::none())};
  for (const int slot : plain.slots)
    place.inputs.push_back(slot < 0 ? absent : location.inputs[slot]);
  if (plain.element >= 0) place.outputs = {location.outputs[plain.element]};
  return place;
}

std::vector<int> written_slots(const Op& op, const Call& call) {
  std::vector<int> slots;
  for (const int index : op.written_arguments) {
    const SlotRange range = call.arguments[index];
    for (int slot = range.first; slot < range.first + range.count; ++slot) slots.push_back(slot);
  }
  return slots;
}

Result<std::vector<OptionalOutput>> infer_variant(const Op& op, const Call& call,
                                                  const Location* location) {
  const Result<std::vector<PlainCall>> plains = plain_calls(op, call);
  if (!plains.ok()) return plains.status();
  std::vector<OptionalOutput> results;
  for (const PlainCall& plain : *plains) {
    std::optional<Location> place;
    if (location != nullptr) place = location_of_plain(*location, plain);
    Result<std::vector<OptionalOutput>> own =
        op.plain->infer(plain.call, place ? &*place : nullptr);
    if (!own.ok()) return own;
    std::move(own->begin(), own->end(), std::back_inserter(results));
  }
  if (op.variant == Variant::kList) return results;
  const std::vector<int> written = written_slots(op, call);
  if (results.size() != written.size()) {
    return invalid_argument("{}: {} tensors to write, but {} gives {} outputs", op.name(),
                            written.size(), op.plain->name(), results.size());
  }
  for (size_t i = 0; i < written.size(); ++i) {
    const OptionalMeta& target = call.inputs[written[i]];
    Status status = check_written(op, results[i], target, static_cast<int>(i));
    if (!status.ok()) return status;
    if (target) results[i] = OutputMeta{*target, written[i], 0};
  }
  return results;
}

bool rule_of_variant(const PlainCall& plain, std::span<const int> written, size_t input_count,
                     Rule& rule) {
  std::vector<Placement> inputs(input_count, Placement::none());
  std::vector<bool> is_read(input_count, false);
  for (size_t i = 0; i < plain.slots.size(); ++i) {
    const int slot = plain.slots[i];
    if (slot < 0) continue;
    inputs[slot] = rule.inputs[i];
    is_read[slot] = true;
  }
  for (size_t i = 0; i < written.size(); ++i) {
    const int slot = written[i];
    if (is_read[slot] && inputs[slot] != rule.outputs[i]) return false;
    inputs[slot] = rule.outputs[i];
  }
  for (Requirement& requirement : rule.requirements) {
    if (!requirement.is_output) requirement.slot = plain.slots[requirement.slot];
  }
  std::erase_if(rule.requirements,
                [](const Requirement& requirement) { return requirement.slot < 0; });
  rule.inputs = std::move(inputs);
  return true;
}

Result<std::vector<std::string>> samples_of_variant(const Op& op) {
  if (op.is_list_form()) return samples_of_list_form(op);
  Result<std::vector<std::string>> plain = op.plain->samples();
  if (!plain.ok()) return plain;
  std::vector<std::string> samples;
  for (const std::string& text : *plain) {
    Result<std::string> sample = variant_sample(op, text);
    if (!sample.ok()) return sample.status();
    if (!sample->empty()) samples.push_back(*std::move(sample));
  }
  return samples;
}

}  // namespace onedim
