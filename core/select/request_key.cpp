#include "core/select/request_key.hpp"

#include <bit>

namespace onedim {
namespace {

void append_value(const Value& value, MemoKey& key) {
  key.push_back(value.data.index());
  if (const bool* flag = value.get_if<bool>()) key.push_back(*flag);
  if (const int64_t* number = value.get_if<int64_t>())
    key.push_back(static_cast<uint64_t>(*number));
  if (const double* number = value.get_if<double>())
    key.push_back(std::bit_cast<uint64_t>(*number));
  if (const auto* number = value.get_if<std::complex<double>>()) {
    key.push_back(std::bit_cast<uint64_t>(number->real()));
    key.push_back(std::bit_cast<uint64_t>(number->imag()));
  }
  if (const std::string* text = value.get_if<std::string>()) append_key(*text, key);
  if (const DType* dtype = value.get_if<DType>()) key.push_back(static_cast<uint64_t>(*dtype));
  if (const ValueList* list = value.get_if<ValueList>()) {
    key.push_back(list->size());
    for (const Value& item : *list) append_value(item, key);
  }
}

// Each attribute has its place in the schema, so names need not be said.
void append_attributes(const Call& call, MemoKey& key) {
  for (const auto& [name, value] : call.attributes) append_value(value, key);
}

void append_places(const SelectRequest& request, MemoKey& key) {
  const SelectOptions& options = request.options;
  key.push_back(std::bit_cast<uint64_t>(request.op));
  key.push_back(static_cast<uint64_t>(options.policy) |
                uint64_t{options.allow_shard_to_partial} << 8 | uint64_t{options.exact_rules} << 9 |
                uint64_t{options.forbid_moves} << 10 | uint64_t{options.with_compute} << 11);
  key.push_back(static_cast<uint64_t>(options.memory_bytes));
  const Call& call = *request.call;
  // Which slots belong to which argument: numbers given for tensors have none.
  for (const SlotRange& range : call.arguments)
    key.push_back(static_cast<uint64_t>(range.first + 1) << 32 |
                  static_cast<uint64_t>(range.count));
  for (size_t slot = 0; slot < call.inputs.size() && slot < request.inputs.size(); ++slot) {
    key.push_back(call.inputs[slot].has_value());
    if (!call.inputs[slot]) continue;
    append_key(*call.inputs[slot], key);
    append_key(request.inputs[slot], key);
  }
  for (const Layout* layout : request.required_outputs) {
    key.push_back(layout != nullptr);
    if (layout != nullptr) append_key(*layout, key);
  }
}

bool sees_local_attributes(const Op& op) {
  const Op& asked = op.plain == nullptr ? op : *op.plain;
  return asked.accept_fn != nullptr || asked.depends_on_output_placement();
}

}  // namespace

MemoKey request_key(const SelectRequest& request) {
  MemoKey key;
  append_places(request, key);
  append_attributes(*request.call, key);
  return key;
}

MemoKey meaning_key(const SelectRequest& request, std::span<const OptionalOutput> outputs,
                    const RuleChoices& choices) {
  MemoKey key;
  append_places(request, key);
  // The pack's cost of a call may depend on its attributes, too.
  if (sees_local_attributes(*request.op) || request.options.with_compute)
    append_attributes(*request.call, key);
  for (const OptionalOutput& output : outputs) {
    key.push_back(output.has_value());
    if (!output) continue;
    append_key(output->meta, key);
    key.push_back(static_cast<uint64_t>(output->view_of_input));
    key.push_back(static_cast<uint64_t>(output->storage_offset));
  }
  for (const RuleChoice& choice : choices.rules()) {
    const Rule& rule = choice.rule;
    for (const std::vector<Placement>* side : {&rule.outputs, &rule.inputs}) {
      for (const Placement& placement : *side) append_key(placement, key);
    }
    for (const Requirement& need : rule.requirements) {
      key.push_back(static_cast<uint64_t>(need.slot) << 32 | static_cast<uint64_t>(need.dim) << 1 |
                    need.is_output);
      key.push_back(static_cast<uint64_t>(need.multiple));
    }
    key.push_back(uint64_t{rule.even_only} | uint64_t{rule.to_rounding} << 1 |
                  rule.requirements.size() << 2);
    key.push_back(rule.tag);
  }
  return key;
}

}  // namespace onedim
