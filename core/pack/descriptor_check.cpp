#include "core/pack/descriptor_check.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/pack/abi_read.hpp"

namespace onedim {
namespace {

constexpr uint64_t kKnownOpFlags = ONEDIM_OP_POSITION_AWARE | ONEDIM_OP_NO_IMPLIED_REPLICATE |
                                   ONEDIM_OP_RANDOM | ONEDIM_OP_UNDEFINED_CONTENT;
constexpr uint64_t kMaxGroup = 16;  // states or outputs of a partial kind

Result<std::vector<std::string>> read_texts(const onedim_text_t* texts, uint64_t count,
                                            std::string_view what) {
  if (Status status = check_table(texts, count, what); !status.ok()) return status;
  std::vector<std::string> result;
  for (uint64_t i = 0; i < count; ++i) {
    Result<std::string> text = read_text(texts[i], fmt::format("{}[{}]", what, i));
    if (!text.ok()) return text.status();
    result.push_back(*std::move(text));
  }
  return result;
}

Status read_texts_of(const onedim_op_t& from, Op& op) {
  const auto read = [](onedim_text_t text, std::string_view what, std::string& to) {
    Result<std::string> result = read_text(text, what);
    if (!result.ok()) return result.status();
    to = *std::move(result);
    return absl::OkStatus();
  };
  if (Status status = read(from.summary, "summary", op.summary); !status.ok()) return status;
  if (Status status = read(from.example, "example", op.example); !status.ok()) return status;
  return read(from.variant_of, "variant_of", op.variant_of);
}

// Slot counts where the schema fixes them, and kinds of partials that could exist.
Status check_table_rule(const Schema& schema, const Rule& rule) {
  const bool has_list_return = std::any_of(schema.returns.begin(), schema.returns.end(),
                                           [](const ReturnSlot& slot) { return slot.is_list; });
  if (!has_list_return && rule.outputs.size() != schema.returns.size()) {
    return invalid_argument("{} output placements, but the schema returns {}", rule.outputs.size(),
                            schema.returns.size());
  }
  size_t tensors = 0;
  bool has_list = false;
  for (const Argument& argument : schema.arguments) {
    tensors += argument.is_tensor() ? 1 : 0;
    has_list = has_list || (argument.is_tensor() && argument.is_list);
  }
  if (!has_list && rule.inputs.size() != tensors) {
    return invalid_argument("{} input placements, but the schema has {} tensors",
                            rule.inputs.size(), tensors);
  }
  const auto is_known = [](const Placement& placement) {
    return !placement.is_partial() || is_builtin_partial(placement.partial) ||
           is_kind_name(placement.partial);
  };
  if (!std::all_of(rule.outputs.begin(), rule.outputs.end(), is_known) ||
      !std::all_of(rule.inputs.begin(), rule.inputs.end(), is_known)) {
    return invalid_argument("a partial kind is sum, avg, max, min, product or `pack.kind`");
  }
  return absl::OkStatus();
}

Status read_rule_table(const onedim_op_t& from, Op& op) {
  Result<std::vector<std::string>> texts =
      read_texts(from.rule_table, from.rule_table_count, "rule_table");
  if (!texts.ok()) return texts.status();
  for (size_t i = 0; i < texts->size(); ++i) {
    Result<Rule> rule = parse_rule((*texts)[i]);
    Status status = rule.ok() ? check_table_rule(op.schema, *rule) : rule.status();
    if (!status.ok()) return annotate(status, fmt::format("rule_table[{}] \"{}\"", i, (*texts)[i]));
    op.rule_table.push_back(*std::move(rule));
  }
  return absl::OkStatus();
}

Status read_sample_table(const onedim_op_t& from, Op& op) {
  Result<std::vector<std::string>> texts =
      read_texts(from.sample_table, from.sample_table_count, "sample_table");
  if (!texts.ok()) return texts.status();
  for (size_t i = 0; i < texts->size(); ++i) {
    const Result<CallText> call = parse_call(op.schema, (*texts)[i]);
    if (!call.ok()) return annotate(call.status(), fmt::format("sample_table[{}]", i));
  }
  if (!op.example.empty()) {
    const Result<CallText> call = parse_call(op.schema, op.example);
    if (!call.ok()) return annotate(call.status(), "example");
  }
  op.sample_table = *std::move(texts);
  return absl::OkStatus();
}

Result<SizeAttribute> read_size_attribute(const onedim_size_attribute_t& from,
                                          const Schema& schema) {
  Result<std::string> name = read_text(from.attribute, "its name");
  if (!name.ok()) return name.status();
  const Argument* argument = schema.find(*name);
  if (argument == nullptr || argument->type != ArgumentType::kInt) {
    std::vector<std::string> names;
    for (const Argument& known : schema.arguments) names.push_back(known.name);
    return invalid_argument("\"{}\" is no integer argument of the schema{}", *name,
                            did_you_mean(*name, names));
  }
  if (from.output_slot < 0 || from.first_dim < 0 || from.first_dim >= kMaxNdim) {
    return invalid_argument("output_slot is {} and first_dim is {}", from.output_slot,
                            from.first_dim);
  }
  const bool has_list = std::any_of(schema.returns.begin(), schema.returns.end(),
                                    [](const ReturnSlot& slot) { return slot.is_list; });
  if (!has_list && static_cast<size_t>(from.output_slot) >= schema.returns.size()) {
    return invalid_argument("output_slot is {}, but the schema returns {}", from.output_slot,
                            schema.returns.size());
  }
  return SizeAttribute{*std::move(name), from.output_slot, from.first_dim};
}

Status read_size_attributes(const onedim_op_t& from, Op& op) {
  Status status = check_table(from.size_attributes, from.size_attribute_count, "size_attributes");
  if (!status.ok()) return status;
  for (uint64_t i = 0; i < from.size_attribute_count; ++i) {
    Result<SizeAttribute> attribute = read_size_attribute(from.size_attributes[i], op.schema);
    if (!attribute.ok()) return annotate(attribute.status(), fmt::format("size_attributes[{}]", i));
    op.size_attributes.push_back(*std::move(attribute));
  }
  return absl::OkStatus();
}

Status read_gradient_ops(const onedim_op_t& from, Op& op) {
  Result<std::vector<std::string>> names =
      read_texts(from.gradient_ops, from.gradient_op_count, "gradient_ops");
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (!is_op_name(name))
      return invalid_argument("gradient_ops has \"{}\", which is no op name", name);
  }
  op.gradient_ops = *std::move(names);
  return absl::OkStatus();
}

// A form of another op writes something or goes over lists, and has nothing of its own that the
// plain op gives.
Status check_variant(const onedim_op_t& from, const Op& op) {
  if (!is_op_name(op.variant_of) || op.variant_of == op.name()) {
    return invalid_argument("variant_of \"{}\" is not the name of another op", op.variant_of);
  }
  const bool has_list = std::any_of(
      op.schema.arguments.begin(), op.schema.arguments.end(),
      [](const Argument& argument) { return argument.is_tensor() && argument.is_list; });
  if (op.written_arguments.empty() && !has_list) {
    return invalid_argument(
        "variant_of is \"{}\", but the schema neither marks an argument as written, "
        "`Tensor(a!)`, nor has a list of tensors",
        op.variant_of);
  }
  const bool has_own = from.infer != nullptr || from.rules != nullptr ||
                       from.accept_local != nullptr || from.cost != nullptr ||
                       from.samples != nullptr || from.rule_table_count > 0 ||
                       from.sample_table_count > 0 || from.size_attribute_count > 0;
  if (has_own) {
    return invalid_argument(
        "variant_of is \"{}\", whose callbacks and tables it shares; it has its own",
        op.variant_of);
  }
  return absl::OkStatus();
}

Status fill_op(const onedim_op_t& from, Op& op) {
  for (size_t i = 0; i < op.schema.arguments.size(); ++i) {
    if (op.schema.arguments[i].is_written) op.written_arguments.push_back(static_cast<int>(i));
  }
  op.flags = from.flags;
  op.user = from.user;
  op.infer_fn = from.infer;
  op.rules_fn = from.rules;
  op.accept_fn = from.accept_local;
  op.cost_fn = from.cost;
  op.samples_fn = from.samples;
  if ((from.flags & ~kKnownOpFlags) != 0)
    return invalid_argument("flags {:#x} has unknown bits", from.flags);
  if (Status status = read_texts_of(from, op); !status.ok()) return status;
  if (!op.variant_of.empty()) {
    if (Status status = check_variant(from, op); !status.ok()) return status;
  } else if (op.infer_fn == nullptr) {
    return invalid_argument("infer is null; every op but a form of another describes its outputs");
  }
  if (Status status = read_rule_table(from, op); !status.ok()) return status;
  if (Status status = read_sample_table(from, op); !status.ok()) return status;
  if (Status status = read_size_attributes(from, op); !status.ok()) return status;
  return read_gradient_ops(from, op);
}

Status check_kind_numbers(const onedim_partial_kind_t& kind) {
  if (kind.component_count < 1 || kind.component_count > kMaxGroup) {
    return invalid_argument("component_count is {}, expected 1 to {}", kind.component_count,
                            kMaxGroup);
  }
  if (kind.output_count < 1 || kind.output_count > kMaxGroup) {
    return invalid_argument("output_count is {}, expected 1 to {}", kind.output_count, kMaxGroup);
  }
  if (kind.identity == nullptr) return invalid_argument("identity is null");
  if (kind.combine == nullptr) return invalid_argument("combine is null");
  const bool is_outputs = kind.component_count == kind.output_count;
  if (kind.state == nullptr && !is_outputs) {
    return invalid_argument("state is null, so the {} components must be the {} outputs",
                            kind.component_count, kind.output_count);
  }
  if (kind.finish == nullptr && !is_outputs) {
    return invalid_argument("finish is null, so the {} components must be the {} outputs",
                            kind.component_count, kind.output_count);
  }
  if (kind.state != nullptr && kind.local == nullptr && !is_outputs) {
    return invalid_argument(
        "local is null, so the op's kernel must write {} components as its {} outputs",
        kind.component_count, kind.output_count);
  }
  return absl::OkStatus();
}

Status fill_kind(const onedim_partial_kind_t& from, PartialKind& kind) {
  if (!is_kind_name(kind.name) || kind.name.substr(0, kind.name.find('.')) != kind.pack) {
    return invalid_argument("its name must be \"{}.\" and a word of a-z, 0-9, _", kind.pack);
  }
  if (Status status = check_kind_numbers(from); !status.ok()) return status;
  Result<std::vector<std::string>> components =
      read_texts(from.components, from.component_count, "components");
  if (!components.ok()) return components.status();
  for (size_t i = 0; i < components->size(); ++i) {
    const std::string& name = (*components)[i];
    if (!is_pack_name(name))
      return invalid_argument("components[{}] \"{}\" is no word of a-z, 0-9, _", i, name);
    if (std::count(components->begin(), components->end(), name) > 1) {
      return invalid_argument("components has \"{}\" twice", name);
    }
  }
  kind.components = *std::move(components);
  kind.revision = from.revision;
  kind.output_count = static_cast<int>(from.output_count);
  kind.user = from.user;
  kind.state_fn = from.state;
  kind.local_fn = from.local;
  kind.identity_fn = from.identity;
  kind.combine_fn = from.combine;
  kind.finish_fn = from.finish;
  return absl::OkStatus();
}

}  // namespace

Status check_pack(const onedim_pack_t& pack) {
  constexpr uint64_t kLeast = offsetof(onedim_pack_t, shutdown) + sizeof(pack.shutdown);
  if (Status status = check_struct_size(pack.struct_size, kLeast, "pack"); !status.ok())
    return status;
  Result<std::string> name = read_text(pack.name, "the pack's name");
  if (!name.ok()) return name.status();
  if (!is_pack_name(*name))
    return invalid_argument("the pack's name \"{}\" is no word of a-z, 0-9, _", *name);
  Result<std::string> version = read_text(pack.version, "the pack's version");
  if (!version.ok()) return version.status();
  if (version->empty() || version->size() > 128) {
    return invalid_argument("the version of pack {} has {} bytes, expected 1 to 128", *name,
                            version->size());
  }
  if (pack.init == nullptr) return invalid_argument("init of pack {} is null", *name);
  return absl::OkStatus();
}

Result<std::unique_ptr<Op>> read_op(const onedim_op_t* op, const std::string& pack) {
  if (op == nullptr) return invalid_argument("register_op: a null pointer");
  constexpr uint64_t kLeast = offsetof(onedim_op_t, gradient_op_count) + sizeof(uint64_t);
  if (Status status = check_struct_size(op->struct_size, kLeast, "register_op: op"); !status.ok())
    return status;
  Result<std::string> text = read_text(op->schema, "register_op: schema");
  if (!text.ok()) return text.status();
  Result<Schema> schema = parse_schema(*text);
  if (!schema.ok()) return annotate(schema.status(), "register_op: schema");
  auto result = std::make_unique<Op>();
  result->schema = *std::move(schema);
  result->pack = pack;
  if (!is_op_name(result->name()))
    return invalid_argument("register_op: \"{}\" is too long for a name", *text);
  if (Status status = fill_op(*op, *result); !status.ok()) {
    return annotate(status, fmt::format("op {}", result->name()));
  }
  return result;
}

Result<std::pair<std::string, Kernel>> read_kernel(const onedim_kernel_t* kernel,
                                                   const std::string& pack) {
  if (kernel == nullptr) return invalid_argument("register_kernel: a null pointer");
  constexpr uint64_t kLeast = offsetof(onedim_kernel_t, workspace) + sizeof(kernel->workspace);
  Status status = check_struct_size(kernel->struct_size, kLeast, "register_kernel: kernel");
  if (!status.ok()) return status;
  Result<std::string> op = read_text(kernel->op, "register_kernel: op");
  if (!op.ok()) return op.status();
  if (!is_op_name(*op)) return invalid_argument("register_kernel: \"{}\" is no op name", *op);
  if (kernel->device < 0 || kernel->device >= ONEDIM_DEVICE_COUNT) {
    return invalid_argument("kernel of op {}: there is no device {}", *op, kernel->device);
  }
  if (kernel->dtypes == 0 || kernel->dtypes >> kDTypeCount != 0) {
    return invalid_argument("kernel of op {}: dtypes {:#x} has no bit or unknown ones", *op,
                            kernel->dtypes);
  }
  if (kernel->compute == nullptr) return invalid_argument("kernel of op {}: compute is null", *op);
  return std::pair(*std::move(op), Kernel{kernel->device, kernel->dtypes, pack, kernel->user,
                                          kernel->compute, kernel->workspace});
}

Result<std::unique_ptr<PartialKind>> read_partial_kind(const onedim_partial_kind_t* kind,
                                                       const std::string& pack) {
  if (kind == nullptr) return invalid_argument("register_partial_kind: a null pointer");
  constexpr uint64_t kLeast = offsetof(onedim_partial_kind_t, finish) + sizeof(kind->finish);
  Status status = check_struct_size(kind->struct_size, kLeast, "register_partial_kind: kind");
  if (!status.ok()) return status;
  Result<std::string> name = read_text(kind->name, "register_partial_kind: name");
  if (!name.ok()) return name.status();
  auto result = std::make_unique<PartialKind>();
  result->name = *std::move(name);
  result->pack = pack;
  status = fill_kind(*kind, *result);
  if (!status.ok()) return annotate(status, fmt::format("partial kind \"{}\"", result->name));
  return result;
}

}  // namespace onedim
