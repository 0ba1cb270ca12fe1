#include "core/pack/list_form.hpp"

#include <algorithm>
#include <optional>

namespace onedim {
namespace {

bool may_stand_for(const Argument& given, const Argument& plain) {
  if (plain.is_list && !given.is_list) return false;
  const bool is_number = given.type == ArgumentType::kScalar &&
                         (plain.is_tensor() || plain.type == ArgumentType::kFloat);
  return given.type == plain.type || is_number;
}

// The form's argument that stands for the plain op's number `index`, or -1.
int argument_for(const Schema& form, const Schema& plain, size_t index) {
  const int named = form.index_of(plain.arguments[index].name);
  if (named >= 0 || index >= form.arguments.size()) return named;
  const Argument& there = form.arguments[index];
  return there.is_written || plain.find(there.name) != nullptr ? -1 : static_cast<int>(index);
}

Status check_plain(const Op& form, const Op& plain) {
  const std::vector<ReturnSlot>& returns = plain.schema.returns;
  const bool returns_one = returns.size() == 1 && returns[0].is_tensor() && !returns[0].is_list &&
                           !returns[0].optional && returns[0].alias.empty();
  const bool is_fit =
      returns_one && plain.size_attributes.empty() && (plain.flags & ONEDIM_OP_RANDOM) == 0;
  if (is_fit) return absl::OkStatus();
  return invalid_argument(
      "{}: {} must return one new tensor, have no size attributes and draw no random numbers to "
      "be a list's element",
      form.name(), plain.name());
}

// A call's lists must have one length.
Result<size_t> list_length(const Op& form, const Call& call) {
  std::optional<size_t> length;
  for (size_t i = 0; i < form.schema.arguments.size(); ++i) {
    const Argument& argument = form.schema.arguments[i];
    if (!argument.is_list) continue;
    const Value* value = call.attribute(argument.name);
    const ValueList* items = value == nullptr ? nullptr : value->get_if<ValueList>();
    const size_t own = items != nullptr ? items->size() : call.arguments[i].count;
    if (length && *length != own) {
      return invalid_argument("{}: \"{}\" has {} elements, but the list before it has {}",
                              form.name(), argument.name, own, *length);
    }
    length = own;
  }
  if (!length || *length == 0) return invalid_argument("{}: the lists are empty", form.name());
  return *length;
}

// Makes the plain call of one element.
class ElementCall {
 public:
  ElementCall(const Op& form, const Call& call, size_t element)
      : form_(form), call_(call), element_(element) {
    made_.element = static_cast<int>(element);
    made_.call.schema = &form.plain->schema;
    made_.call.seed = call.seed;
    made_.call.call_id = call.call_id;
    made_.call.arguments.resize(form.plain->schema.arguments.size());
  }

  Result<PlainCall> make() && {
    for (size_t i = 0; i < made_.call.arguments.size(); ++i) {
      const Argument& plain = form_.plain->schema.arguments[i];
      const int at = form_.element_arguments[i];
      const Status status = at < 0 ? add_default(plain, made_.call.arguments[i])
                                   : add(at, plain, made_.call.arguments[i]);
      if (!status.ok()) return annotate(status, form_.name());
    }
    return std::move(made_);
  }

 private:
  Status add_default(const Argument& plain, SlotRange& range) {
    if (!plain.is_tensor()) {
      made_.call.attributes.emplace_back(plain.name, plain.default_value.value_or(Value{}));
    } else if (range.first = static_cast<int>(made_.call.inputs.size()); !plain.is_list) {
      add_slot(-1, range);
    }
    return absl::OkStatus();
  }

  Status add(int at, const Argument& plain, SlotRange& range) {
    const Argument& given = form_.schema.arguments[at];
    const SlotRange source = call_.arguments[at];
    const bool is_zipped = given.is_list && !plain.is_list;
    if (source.first < 0) return add_value(given, plain, is_zipped, range);
    range.first = static_cast<int>(made_.call.inputs.size());
    const int first = source.first + (is_zipped ? static_cast<int>(element_) : 0);
    for (int slot = first; slot < (is_zipped ? first + 1 : source.first + source.count); ++slot)
      add_slot(slot, range);
    const OptionalMeta& shared = call_.inputs[first];
    if (given.is_list || !shared || shared->shape.empty()) return absl::OkStatus();
    return invalid_argument("\"{}\" is every element's and must have no dims, but is {}",
                            given.name, format_meta(*shared));
  }

  void add_slot(int slot, SlotRange& range) {
    made_.call.inputs.push_back(slot < 0 ? std::nullopt : call_.inputs[slot]);
    made_.slots.push_back(slot);
    ++range.count;
  }

  Status add_value(const Argument& given, const Argument& plain, bool is_zipped, SlotRange& range) {
    const Value* value = call_.attribute(given.name);
    if (value == nullptr) return add_default(plain, range);
    const ValueList* items = is_zipped ? value->get_if<ValueList>() : nullptr;
    Result<Value> fitted = fit_value(plain, items == nullptr ? *value : (*items)[element_]);
    if (!fitted.ok()) return fitted.status();
    made_.call.attributes.emplace_back(plain.name, *std::move(fitted));
    return absl::OkStatus();
  }

  const Op& form_;
  const Call& call_;
  size_t element_;
  PlainCall made_;
};

}  // namespace

bool is_list_form(const Schema& form, const Schema& plain) {
  for (size_t i = 0; i < plain.arguments.size(); ++i) {
    const int at = argument_for(form, plain, i);
    const bool is_zipped = at >= 0 && form.arguments[at].is_list && !plain.arguments[i].is_list;
    if (is_zipped && form.arguments[at].is_tensor()) return true;
  }
  return false;
}

Status check_list_form(Op& form, const Op& plain) {
  if (Status status = check_plain(form, plain); !status.ok()) return status;
  form.element_arguments.clear();
  std::vector<bool> is_used(form.schema.arguments.size(), false);
  for (size_t i = 0; i < plain.schema.arguments.size(); ++i) {
    const Argument& wanted = plain.schema.arguments[i];
    const int at = argument_for(form.schema, plain.schema, i);
    form.element_arguments.push_back(at);
    if (at < 0 && (wanted.optional || wanted.default_value)) continue;
    if (at < 0) {
      return invalid_argument("{} lacks the argument \"{}\" of {}", form.name(), wanted.name,
                              plain.name());
    }
    is_used[at] = true;
    if (may_stand_for(form.schema.arguments[at], wanted)) continue;
    return invalid_argument("{}: argument \"{}\" is {}, but {} has {} {}", form.name(),
                            form.schema.arguments[at].name, format_type(form.schema.arguments[at]),
                            plain.name(), format_type(wanted), wanted.name);
  }
  for (size_t at = 0; at < is_used.size(); ++at) {
    const Argument& argument = form.schema.arguments[at];
    if (is_used[at] || (argument.is_written && argument.is_list)) continue;
    return invalid_argument("{}: argument \"{}\" is neither written nor one of {}", form.name(),
                            argument.name, plain.name());
  }
  const std::vector<ReturnSlot>& returns = form.schema.returns;
  const bool returns_list = returns.size() == 1 && returns[0].is_tensor() && returns[0].is_list;
  if (!form.written_arguments.empty() || returns_list) return absl::OkStatus();
  return invalid_argument("{}: over lists, {} returns Tensor[]", form.name(), plain.name());
}

Result<std::vector<PlainCall>> element_calls(const Op& form, const Call& call) {
  Result<size_t> length = list_length(form, call);
  if (!length.ok()) return length.status();
  std::vector<PlainCall> elements;
  for (size_t i = 0; i < *length; ++i) {
    Result<PlainCall> element = ElementCall(form, call, i).make();
    if (!element.ok()) return element.status();
    elements.push_back(*std::move(element));
  }
  return elements;
}

}  // namespace onedim
