#include "core/pack/schema.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "core/base/text.hpp"

namespace onedim {
namespace {

struct TypeName {
  std::string_view text;
  ArgumentType type;
};

constexpr std::array kTypeNames = {
    TypeName{"Tensor", ArgumentType::kTensor},    TypeName{"bool", ArgumentType::kBool},
    TypeName{"SymBool", ArgumentType::kBool},     TypeName{"int", ArgumentType::kInt},
    TypeName{"SymInt", ArgumentType::kInt},       TypeName{"float", ArgumentType::kFloat},
    TypeName{"complex", ArgumentType::kComplex},  TypeName{"Scalar", ArgumentType::kScalar},
    TypeName{"str", ArgumentType::kString},       TypeName{"ScalarType", ArgumentType::kDType},
    TypeName{"Layout", ArgumentType::kAny},       TypeName{"Device", ArgumentType::kAny},
    TypeName{"MemoryFormat", ArgumentType::kAny}, TypeName{"Generator", ArgumentType::kAny},
    TypeName{"Dimname", ArgumentType::kAny},      TypeName{"any", ArgumentType::kAny},
};

std::string_view type_text(ArgumentType type) {
  for (const TypeName& name : kTypeNames) {
    if (name.type == type) return name.text;
  }
  return "any";
}

// Words that ATen's schemas use as defaults of integers and dtypes.
std::optional<Value> named_constant(std::string_view word, ArgumentType type) {
  if (word == "None" || word == "null") return Value{};
  if (word == "True" || word == "true") return Value{true};
  if (word == "False" || word == "false") return Value{false};
  if (type == ArgumentType::kInt && word == "Mean") return Value{int64_t{1}};
  if (type == ArgumentType::kInt && word == "Sum") return Value{int64_t{2}};
  if (type != ArgumentType::kDType) return std::nullopt;
  if (word == "long") return Value{DType::kI64};
  if (word == "float") return Value{DType::kF32};
  if (word == "double") return Value{DType::kF64};
  return std::nullopt;
}

constexpr std::string_view kQuotes = "\"'";

Result<Value> parse_default(std::string_view text, ArgumentType type) {
  text = trim(text);
  if (std::optional<Value> constant = named_constant(text, type)) return *std::move(constant);
  // ATen writes strings in single quotes, without escapes.
  const bool is_quoted = text.size() >= 2 && text.front() == '\'' && text.back() == '\'';
  if (is_quoted) return Value{std::string(text.substr(1, text.size() - 2))};
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return parse_value(text);
  ValueList items;
  for (const std::string_view piece :
       split_top_level(text.substr(1, text.size() - 2), ',', kQuotes)) {
    Result<Value> item = parse_default(piece, type);
    if (!item.ok()) return item.status();
    items.push_back(*std::move(item));
  }
  return Value{std::move(items)};
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Schema> parse() {
    skip_space();
    while (position_ < text_.size() && (is_word(text_[position_]) || text_[position_] == '.')) {
      schema_.name += text_[position_++];
    }
    if (schema_.name.empty()) return fail("expected an op name of letters, digits, `_` and `.`");
    if (Status status = parse_arguments(); !status.ok()) return status;
    if (!accept("->")) return fail("expected `->` and what the op returns");
    if (Status status = parse_returns(); !status.ok()) return status;
    skip_space();
    if (position_ != text_.size()) return fail("expected the end");
    return std::move(schema_);
  }

 private:
  struct Type {
    ArgumentType type = ArgumentType::kTensor;
    bool is_list = false;
    bool optional = false;
    bool optional_elements = false;
    int64_t fixed_size = 0;
    std::string alias;
    bool is_written = false;
  };

  Status fail(std::string_view what) const { return text_error(text_, position_, what); }

  void skip_space() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }
  bool accept(std::string_view token) {
    skip_space();
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    return true;
  }
  std::string_view word() {
    skip_space();
    const size_t begin = position_;
    while (position_ < text_.size() && is_word(text_[position_])) ++position_;
    return text_.substr(begin, position_ - begin);
  }

  Status parse_arguments() {
    if (!accept("(")) return fail("expected `(` and the arguments");
    if (accept(")")) return absl::OkStatus();
    bool keyword_only = false;
    while (true) {
      if (accept("*")) {
        if (keyword_only) return text_error(text_, position_ - 1, "a second `*`");
        keyword_only = true;
      } else if (Status status = parse_argument(keyword_only); !status.ok()) {
        return status;
      }
      if (accept(")")) return absl::OkStatus();
      if (!accept(",")) return fail("expected `,` or `)`");
    }
  }

  Status parse_argument(bool keyword_only) {
    Result<Type> type = parse_type();
    if (!type.ok()) return type.status();
    skip_space();
    const size_t begin = position_;
    Argument argument{.name = std::string(word()),
                      .type = type->type,
                      .is_list = type->is_list,
                      .optional = type->optional,
                      .optional_elements = type->optional_elements,
                      .fixed_size = type->fixed_size,
                      .keyword_only = keyword_only,
                      .default_value = std::nullopt,
                      .alias = type->alias,
                      .is_written = type->is_written};
    if (argument.name.empty()) return fail("expected the argument's name");
    if (schema_.find(argument.name) != nullptr) {
      return text_error(text_, begin, fmt::format("a second argument \"{}\"", argument.name));
    }
    if (accept("=")) {
      if (Status status = parse_default_of(argument); !status.ok()) return status;
    }
    schema_.arguments.push_back(std::move(argument));
    return absl::OkStatus();
  }

  Status parse_default_of(Argument& argument) {
    skip_space();
    const size_t begin = position_;
    const std::string_view rest = text_.substr(begin);
    const std::string_view piece = rest.substr(0, find_top_level(rest, ",)", kQuotes));
    position_ += piece.size();
    Result<Value> value = parse_default(piece, argument.type);
    if (!value.ok()) return text_error(text_, begin, message_of(value.status()));
    if (argument.is_tensor() && !value->is_none()) {
      return text_error(text_, begin, "a tensor has no default but None");
    }
    if (argument.is_tensor()) return absl::OkStatus();
    if (value->is_none()) argument.optional = true;
    Result<Value> fitted = fit_value(argument, *std::move(value));
    if (!fitted.ok()) return text_error(text_, begin, message_of(fitted.status()));
    argument.default_value = *std::move(fitted);
    return absl::OkStatus();
  }

  Result<Type> parse_type() {
    skip_space();
    const size_t begin = position_;
    const std::string_view name = word();
    const auto* found = std::find_if(kTypeNames.begin(), kTypeNames.end(),
                                     [&](const TypeName& known) { return known.text == name; });
    if (found == kTypeNames.end()) return unknown_type(begin, name);
    Type type{.type = found->type, .alias = {}};
    if (accept("(")) {
      if (Status status = parse_alias(type); !status.ok()) return status;
    }
    if (accept("?")) type.optional = true;
    if (accept("[")) {
      type.is_list = true;
      type.optional_elements = std::exchange(type.optional, false);
      const std::string_view size = word();
      std::from_chars(size.data(), size.data() + size.size(), type.fixed_size);
      if (!accept("]")) return fail("expected `]`");
      if (!size.empty() && (type.fixed_size < 1 || type.fixed_size > 64)) {
        return fail("a list's size must be a number from 1 to 64");
      }
      if (accept("?")) type.optional = true;
    }
    if (!type.alias.empty() && type.type != ArgumentType::kTensor) {
      return text_error(text_, begin, "only tensors have alias marks");
    }
    return type;
  }

  Status unknown_type(size_t begin, std::string_view name) const {
    std::vector<std::string> names;
    for (const TypeName& known : kTypeNames) names.emplace_back(known.text);
    return text_error(text_, begin,
                      fmt::format("unknown type \"{}\"{}", name, did_you_mean(name, names)));
  }

  // `a`, `a!`, `a|b`, `a! -> a|b`, `a -> *`: what counts is the first name and the mark.
  Status parse_alias(Type& type) {
    type.alias = word();
    if (type.alias.empty()) return fail("expected the alias's name");
    while (accept("|")) word();
    type.is_written = accept("!");
    if (accept("->") && !accept("*")) {
      word();
      while (accept("|")) word();
    }
    return accept(")") ? absl::OkStatus() : fail("expected `)` after the alias");
  }

  Status parse_returns() {
    if (!accept("(")) return parse_return();
    if (accept(")")) return absl::OkStatus();
    while (true) {
      if (Status status = parse_return(); !status.ok()) return status;
      if (accept(")")) return absl::OkStatus();
      if (!accept(",")) return fail("expected `,` or `)`");
    }
  }

  Status parse_return() {
    skip_space();
    const size_t begin = position_;
    Result<Type> type = parse_type();
    if (!type.ok()) return type.status();
    const bool is_number = !type->is_list && !type->optional && !number_dtypes(type->type).empty();
    if (type->type != ArgumentType::kTensor && !is_number) {
      return text_error(text_, begin, "only tensors and single numbers can be returned");
    }
    ReturnSlot slot{.name = std::string(word()),
                    .type = type->type,
                    .is_list = type->is_list,
                    .optional = type->optional || type->optional_elements,
                    .alias = type->alias,
                    .is_written = type->is_written};
    if (!slot.alias.empty() && !has_alias(slot)) {
      return text_error(text_, begin,
                        fmt::format("no argument has the alias mark ({}{})", slot.alias,
                                    slot.is_written ? "!" : ""));
    }
    schema_.returns.push_back(std::move(slot));
    return absl::OkStatus();
  }

  bool has_alias(const ReturnSlot& slot) const {
    return std::any_of(
        schema_.arguments.begin(), schema_.arguments.end(), [&](const Argument& argument) {
          return argument.alias == slot.alias && argument.is_written == slot.is_written;
        });
  }

  std::string_view text_;
  size_t position_ = 0;
  Schema schema_;
};

std::string tensor_text(std::string_view alias, bool is_written) {
  if (alias.empty()) return "Tensor";
  return fmt::format("Tensor({}{})", alias, is_written ? "!" : "");
}

std::string suffix(bool is_list, bool optional, bool optional_elements, int64_t fixed_size) {
  std::string text;
  if (optional_elements) text += '?';
  if (is_list) text += fixed_size > 0 ? fmt::format("[{}]", fixed_size) : "[]";
  if (optional) text += '?';
  return text;
}

std::string argument_text(const Argument& argument) {
  const std::string type = argument.is_tensor() ? tensor_text(argument.alias, argument.is_written)
                                                : std::string(type_text(argument.type));
  std::string text = type + suffix(argument.is_list, argument.optional, argument.optional_elements,
                                   argument.fixed_size);
  text += ' ' + argument.name;
  if (argument.default_value) text += '=' + format_value(*argument.default_value);
  return text;
}

std::string return_text(const ReturnSlot& slot) {
  std::string text = slot.is_tensor() ? tensor_text(slot.alias, slot.is_written)
                                      : std::string(type_text(slot.type));
  text +=
      slot.is_list ? suffix(true, false, slot.optional, 0) : suffix(false, slot.optional, false, 0);
  if (!slot.name.empty()) text += ' ' + slot.name;
  return text;
}

Status type_mismatch(const Argument& argument, const Value& value) {
  const std::string* text = value.get_if<std::string>();
  if (argument.type == ArgumentType::kDType && text != nullptr) {
    const Status unknown = parse_dtype(*text).status();
    if (!unknown.ok())
      return invalid_argument("argument \"{}\": {}", argument.name, std::string(unknown.message()));
  }
  return invalid_argument("argument \"{}\" is {}, but the value is {}", argument.name,
                          format_type(argument), format_value(value));
}

std::optional<double> as_double(const Value& value) {
  if (const double* real = value.get_if<double>()) return *real;
  if (const int64_t* integer = value.get_if<int64_t>()) return static_cast<double>(*integer);
  return std::nullopt;
}

bool is_number(const Value& value) {
  return value.get_if<bool>() || value.get_if<int64_t>() || value.get_if<double>() ||
         value.get_if<std::complex<double>>();
}

std::optional<Value> fit_element(ArgumentType type, const Value& value) {
  switch (type) {
    case ArgumentType::kTensor:
    case ArgumentType::kScalar:
      return is_number(value) ? std::optional(value) : std::nullopt;
    case ArgumentType::kBool:
      return value.get_if<bool>() ? std::optional(value) : std::nullopt;
    case ArgumentType::kInt:
      return value.get_if<int64_t>() ? std::optional(value) : std::nullopt;
    case ArgumentType::kFloat:
      if (const std::optional<double> real = as_double(value)) return Value{*real};
      return std::nullopt;
    case ArgumentType::kComplex:
      if (value.get_if<std::complex<double>>()) return value;
      if (const std::optional<double> real = as_double(value))
        return Value{std::complex<double>(*real, 0)};
      return std::nullopt;
    case ArgumentType::kString:
      if (const DType* dtype = value.get_if<DType>()) return Value{std::string(name_of(*dtype))};
      return value.get_if<std::string>() ? std::optional(value) : std::nullopt;
    case ArgumentType::kDType:
      return value.get_if<DType>() ? std::optional(value) : std::nullopt;
    case ArgumentType::kAny:
      return value;
  }
  return std::nullopt;
}

}  // namespace

std::span<const DType> number_dtypes(ArgumentType type) {
  static constexpr std::array kAll = {DType::kBool, DType::kI64, DType::kF64, DType::kC128};
  const std::span<const DType> all(kAll);
  switch (type) {
    case ArgumentType::kBool:
      return all.subspan(0, 1);
    case ArgumentType::kInt:
      return all.subspan(1, 1);
    case ArgumentType::kFloat:
      return all.subspan(2, 1);
    case ArgumentType::kComplex:
      return all.subspan(3, 1);
    case ArgumentType::kScalar:
      return all;
    default:
      return {};
  }
}

const Argument* Schema::find(std::string_view argument) const {
  const int index = index_of(argument);
  return index < 0 ? nullptr : &arguments[index];
}

int Schema::index_of(std::string_view argument) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == argument) return static_cast<int>(i);
  }
  return -1;
}

Result<Schema> parse_schema(std::string_view text) {
  if (text.size() > 16384)
    return invalid_argument("a schema has at most 16384 characters, not {}", text.size());
  return Parser(text).parse();
}

std::string format_type(const Argument& argument) {
  return std::string(type_text(argument.type)) + suffix(argument.is_list, argument.optional,
                                                        argument.optional_elements,
                                                        argument.fixed_size);
}

std::string format_schema(const Schema& schema) {
  std::string text = schema.name + '(';
  bool keyword_only = false;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (i > 0) text += ", ";
    if (schema.arguments[i].keyword_only && !keyword_only) text += "*, ";
    keyword_only = schema.arguments[i].keyword_only;
    text += argument_text(schema.arguments[i]);
  }
  text += ") -> ";
  if (schema.returns.size() == 1 && schema.returns[0].name.empty())
    return text + return_text(schema.returns[0]);
  text += '(';
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    if (i > 0) text += ", ";
    text += return_text(schema.returns[i]);
  }
  return text + ')';
}

Result<Value> fit_value(const Argument& argument, Value value) {
  if (argument.type == ArgumentType::kAny) return value;
  if (value.is_none()) {
    if (argument.optional) return value;
    return type_mismatch(argument, value);
  }
  const ValueList* items = value.get_if<ValueList>();
  if (!argument.is_list || items == nullptr) {
    std::optional<Value> element = fit_element(argument.type, value);
    if (!element) return type_mismatch(argument, value);
    if (!argument.is_list) return *std::move(element);
    if (argument.fixed_size == 0) return type_mismatch(argument, value);
    return Value{ValueList(argument.fixed_size, *element)};
  }
  ValueList fitted;
  fitted.reserve(items->size());
  for (const Value& item : *items) {
    std::optional<Value> element = fit_element(argument.type, item);
    if (item.is_none() && argument.optional_elements) element = Value{};
    if (!element) return type_mismatch(argument, value);
    fitted.push_back(*std::move(element));
  }
  return Value{std::move(fitted)};
}

}  // namespace onedim
