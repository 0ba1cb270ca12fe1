#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/text.hpp"
#include "core/pack/call.hpp"

namespace onedim {
namespace {

struct DomainForm {
  std::string_view name;
  int least_arguments;
  int most_arguments;
};

constexpr std::array kDomainForms = {
    DomainForm{"positive", 0, 0}, DomainForm{"nonnegative", 0, 0}, DomainForm{"nonzero", 0, 0},
    DomainForm{"unit", 0, 0},     DomainForm{"probability", 0, 0}, DomainForm{"nonfinite", 0, 0},
    DomainForm{"index", 1, 1},    DomainForm{"offsets", 1, 1},     DomainForm{"values", 1, 4096},
};

struct TensorText {
  OptionalMeta meta;
  Domain domain;
};

struct TensorPiece {
  std::string_view text;
  std::vector<TensorText> tensors;
  bool is_list = false;  // was in brackets
};

// The pieces of a call's text, which all lie inside `whole`.
struct Pieces {
  std::string_view whole;
  std::vector<TensorPiece> tensors;
  std::vector<std::pair<std::string, Value>> attributes;
  int tensor_count = 0;  // those begun, elements of lists each

  Status fail(std::string_view piece, std::string_view what) const {
    const bool inside = piece.data() >= whole.data() && piece.data() <= whole.data() + whole.size();
    return text_error(whole, inside ? static_cast<size_t>(piece.data() - whole.data()) : 0, what);
  }
};

// `name` of `name=value`, or "" if the piece is no attribute.
std::string_view attribute_name(std::string_view piece) {
  const size_t equals = piece.find('=');
  if (equals == std::string_view::npos) return {};
  const std::string_view name = trim(piece.substr(0, equals));
  const bool is_name = std::all_of(name.begin(), name.end(),
                                   [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  return is_name ? name : std::string_view{};
}

Status add_attribute(std::string_view piece, Pieces& pieces) {
  const std::string_view name = attribute_name(piece);
  if (name.empty()) return pieces.fail(piece, "expected an attribute, `name=value`");
  const std::string_view text = trim(piece.substr(piece.find('=') + 1));
  Result<Value> value = parse_value(text);
  if (!value.ok()) return annotate(value.status(), fmt::format("attribute \"{}\"", name));
  pieces.attributes.emplace_back(name, *std::move(value));
  return absl::OkStatus();
}

Result<TensorText> parse_tensor(std::string_view piece, const Pieces& pieces) {
  if (piece == "-") return TensorText{};
  if (piece.empty())
    return pieces.fail(piece, "expected a tensor such as `f32[4,6]`, or `-` for an absent one");
  const size_t colon = piece.find(':');
  Result<TensorMeta> meta = parse_meta(trim(piece.substr(0, colon)));
  if (!meta.ok()) return annotate(meta.status(), fmt::format("tensor {}", pieces.tensor_count));
  TensorText tensor{*std::move(meta), {}};
  if (colon == std::string_view::npos) return tensor;
  const std::string_view domain_text = trim(piece.substr(colon + 1));
  Result<Domain> domain = parse_domain(domain_text);
  if (!domain.ok()) return pieces.fail(domain_text, message_of(domain.status()));
  tensor.domain = *std::move(domain);
  return tensor;
}

Status add_tensor_piece(std::string_view piece, Pieces& pieces) {
  TensorPiece parsed{.text = piece, .tensors = {}, .is_list = piece.starts_with('[')};
  if (parsed.is_list && !piece.ends_with(']'))
    return pieces.fail(piece, "the list's `]` is missing");
  std::vector<std::string_view> elements{piece};
  if (parsed.is_list) elements = split_top_level(piece.substr(1, piece.size() - 2), ';');
  for (const std::string_view element : elements) {
    ++pieces.tensor_count;
    Result<TensorText> tensor = parse_tensor(element, pieces);
    if (!tensor.ok()) return tensor.status();
    parsed.tensors.push_back(*std::move(tensor));
  }
  pieces.tensors.push_back(std::move(parsed));
  return absl::OkStatus();
}

Status split_pieces(Pieces& pieces) {
  for (const std::string_view piece : split_top_level(pieces.whole, ';')) {
    const bool is_attribute = !attribute_name(piece).empty();
    if (!is_attribute && !pieces.attributes.empty()) {
      return pieces.fail(piece, "tensors come before attributes");
    }
    Status status = is_attribute ? add_attribute(piece, pieces) : add_tensor_piece(piece, pieces);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// The op's only tensor argument may be a list without brackets.
void add_brackets(const Schema& schema, Pieces& pieces) {
  const auto is_tensor = [](const Argument& argument) { return argument.is_tensor(); };
  if (std::count_if(schema.arguments.begin(), schema.arguments.end(), is_tensor) != 1) return;
  const auto only = std::find_if(schema.arguments.begin(), schema.arguments.end(), is_tensor);
  if (!only->is_list || pieces.tensors.empty()) return;
  const auto has_brackets = [](const TensorPiece& piece) { return piece.is_list; };
  if (std::any_of(pieces.tensors.begin(), pieces.tensors.end(), has_brackets)) return;
  TensorPiece list{.text = pieces.tensors[0].text, .tensors = {}, .is_list = true};
  for (TensorPiece& piece : pieces.tensors) list.tensors.push_back(std::move(piece.tensors[0]));
  pieces.tensors.clear();
  pieces.tensors.push_back(std::move(list));
}

bool has_attribute(const Pieces& pieces, std::string_view name) {
  return std::any_of(pieces.attributes.begin(), pieces.attributes.end(),
                     [&](const auto& attribute) { return attribute.first == name; });
}

Status check_piece(const Argument& argument, const TensorPiece& piece, const Pieces& pieces) {
  if (argument.is_list && !piece.is_list && piece.tensors[0].meta) {
    return pieces.fail(piece.text,
                       fmt::format("\"{}\" is a list; put its tensors in brackets: `[{}]`",
                                   argument.name, piece.text));
  }
  if (!argument.is_list && piece.is_list) {
    return pieces.fail(piece.text, fmt::format("\"{}\" is one tensor, not a list", argument.name));
  }
  return absl::OkStatus();
}

// Tensors go to the tensor arguments in schema order, those that are given as attributes left out.
Result<CallText> assemble(const Schema& schema, Pieces pieces) {
  add_brackets(schema, pieces);
  std::vector<std::vector<OptionalMeta>> tensors(schema.arguments.size());
  std::vector<std::vector<Domain>> domains(schema.arguments.size());
  size_t next = 0;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Argument& argument = schema.arguments[i];
    if (!argument.is_tensor() || has_attribute(pieces, argument.name)) continue;
    if (next == pieces.tensors.size()) {
      if (!argument.is_list || argument.optional) continue;
      return pieces.fail(pieces.whole.substr(pieces.whole.size()),
                         fmt::format("{}: tensor list \"{}\" is missing; an empty one is `[]`",
                                     schema.name, argument.name));
    }
    const TensorPiece& piece = pieces.tensors[next++];
    if (Status status = check_piece(argument, piece, pieces); !status.ok()) return status;
    if (argument.is_list && !piece.is_list) continue;  // `-` for an absent list
    for (const TensorText& tensor : piece.tensors) {
      tensors[i].push_back(tensor.meta);
      domains[i].push_back(tensor.domain);
    }
  }
  if (next < pieces.tensors.size()) {
    return pieces.fail(pieces.tensors[next].text,
                       fmt::format("more tensors than {} takes; its signature is {}", schema.name,
                                   format_schema(schema)));
  }
  Result<Call> call = make_call(schema, std::move(tensors), std::move(pieces.attributes));
  if (!call.ok()) return call.status();
  CallText text{*std::move(call), {}};
  text.domains.resize(text.call.inputs.size());
  for (size_t i = 0; i < domains.size(); ++i) {
    const int first = text.call.arguments[i].first;
    std::move(domains[i].begin(), domains[i].end(), text.domains.begin() + std::max(first, 0));
  }
  return text;
}

std::string format_tensor(const OptionalMeta& meta, const Domain* domain) {
  if (!meta) return "-";
  std::string text = format_meta(*meta);
  if (domain == nullptr || domain->name.empty()) return text;
  text += ':' + domain->name;
  for (size_t i = 0; i < domain->arguments.size(); ++i) {
    text += (i == 0 ? "(" : ",") + format_value(domain->arguments[i]);
  }
  return domain->arguments.empty() ? text : text + ')';
}

std::string format_argument(const Call& call, size_t index, std::span<const Domain> domains) {
  const SlotRange range = call.arguments[index];
  std::string text;
  for (int slot = range.first; slot < range.first + range.count; ++slot) {
    const Domain* domain = static_cast<size_t>(slot) < domains.size() ? &domains[slot] : nullptr;
    if (slot > range.first) text += "; ";
    text += format_tensor(call.inputs[slot], domain);
  }
  return call.schema->arguments[index].is_list ? '[' + text + ']' : text;
}

}  // namespace

Result<Domain> parse_domain(std::string_view text) {
  const size_t open = text.find('(');
  Domain domain{std::string(trim(text.substr(0, open))), {}};
  const auto* form =
      std::find_if(kDomainForms.begin(), kDomainForms.end(),
                   [&](const DomainForm& known) { return known.name == domain.name; });
  if (form == kDomainForms.end()) {
    std::vector<std::string> names;
    for (const DomainForm& known : kDomainForms) names.emplace_back(known.name);
    return invalid_argument("unknown domain \"{}\"{}", domain.name,
                            did_you_mean(domain.name, names));
  }
  if (open != std::string_view::npos) {
    if (!text.ends_with(')')) return invalid_argument("the `)` of domain \"{}\" is missing", text);
    for (const std::string_view piece :
         split_top_level(text.substr(open + 1, text.size() - open - 2), ',')) {
      Result<Value> value = parse_value(piece);
      if (!value.ok()) return value.status();
      domain.arguments.push_back(*std::move(value));
    }
  }
  const int count = static_cast<int>(domain.arguments.size());
  if (count < form->least_arguments || count > form->most_arguments) {
    return invalid_argument(
        "domain \"{}\" takes {} argument{}, not {}", domain.name,
        form->most_arguments > 1 ? "at least 1" : fmt::format("{}", form->most_arguments),
        form->most_arguments == 1 ? "" : "s", count);
  }
  const int64_t* size = form->most_arguments == 1 ? domain.arguments[0].get_if<int64_t>() : nullptr;
  if (form->most_arguments == 1 && (size == nullptr || *size < 0)) {
    return invalid_argument("domain \"{}\" takes a size, not {}", domain.name,
                            format_value(domain.arguments[0]));
  }
  return domain;
}

Result<CallText> parse_call(const Schema& schema, std::string_view text) {
  return parse_call(schema, text, {});
}

Result<CallText> parse_call(const Schema& schema, std::string_view inputs,
                            std::span<const std::string> attributes) {
  Pieces pieces{.whole = inputs, .tensors = {}, .attributes = {}};
  if (Status status = split_pieces(pieces); !status.ok()) return status;
  for (const std::string& attribute : attributes) {
    pieces.whole = attribute;
    if (Status status = add_attribute(trim(attribute), pieces); !status.ok()) return status;
  }
  pieces.whole = inputs;
  return assemble(schema, std::move(pieces));
}

std::string format_call(const Call& call, std::span<const Domain> domains) {
  std::vector<std::string> pieces;
  size_t needed = 0;  // trailing absent tensors are left out
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.schema->arguments[i];
    if (call.arguments[i].first < 0) continue;
    const bool is_absent_list =
        argument.is_list && argument.optional && call.arguments[i].count == 0;
    pieces.push_back(is_absent_list ? "-" : format_argument(call, i, domains));
    if (pieces.back() != "-") needed = pieces.size();
  }
  pieces.resize(needed);
  for (const auto& [name, value] : given_attributes(call)) {
    pieces.push_back(fmt::format("{}={}", name, format_value(value)));
  }
  std::string text;
  for (const std::string& piece : pieces) text += (text.empty() ? "" : "; ") + piece;
  return text;
}

std::vector<std::string> format_inputs(const Call& call) {
  std::vector<std::string> texts;
  for (const OptionalMeta& meta : call.inputs) texts.push_back(format_tensor(meta, nullptr));
  return texts;
}

std::vector<std::pair<std::string, Value>> given_attributes(const Call& call) {
  std::vector<std::pair<std::string, Value>> given;
  for (const auto& [name, value] : call.attributes) {
    const Argument* argument = call.schema->find(name);
    const Value unset = argument->default_value.value_or(Value{});
    const bool has_default =
        argument->default_value || argument->optional || argument->type == ArgumentType::kAny;
    if (argument->is_tensor() || !has_default || value != unset) given.emplace_back(name, value);
  }
  return given;
}

}  // namespace onedim
