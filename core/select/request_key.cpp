#include "core/select/request_key.hpp"

#include <algorithm>
#include <bit>

#include "core/select/key_writer.hpp"

namespace onedim {
namespace {

// Each attribute has its place in the schema, so names need not be said.
void add_attributes(const Call& call, KeyWriter& key) {
  for (const auto& [name, value] : call.attributes) key.add(value);
}

// Which slots belong to which argument: numbers given for tensors have none.
void add_arguments(const Call& call, KeyWriter& key) {
  const bool are_bytes = call.inputs.size() < 255;
  uint64_t word = 0;
  size_t count = 0;
  for (const SlotRange& range : call.arguments) {
    const auto first = static_cast<uint64_t>(range.first) + 1;
    const auto slots = static_cast<uint64_t>(range.count);
    if (!are_bytes) {
      key.add(first << 32 | slots);
      continue;
    }
    word = word << 16 | first << 8 | slots;
    if (++count % 4 != 0) continue;
    key.add(word);
    word = 0;
  }
  if (count % 4 != 0) key.add(word);
}

// Nothing required of any output is as good as no list.
std::span<const Layout* const> required_of(const SelectRequest& request) {
  for (const Layout* layout : request.required_outputs) {
    if (layout != nullptr) return request.required_outputs;
  }
  return {};
}

bool has_orders(const SelectRequest& request) {
  return std::any_of(request.outermosts.begin(), request.outermosts.end(),
                     [](int outermost) { return outermost != 0; });
}

// Where inputs lie in memory, and what they are as partials; which of these follow is in the
// options' flags.
void add_memory(const SelectRequest& request, KeyWriter& key) {
  if (has_orders(request)) {
    for (const int outermost : request.outermosts) key.add(static_cast<uint64_t>(outermost));
  }
  for (const std::vector<TensorMeta>& state : request.states) {
    key.add(state.size());
    for (const TensorMeta& meta : state) key.add(meta);
  }
}

// `exact_rules` only says which rules there are.
void add_options(const SelectRequest& request, bool with_exact_rules, KeyWriter& key) {
  const SelectOptions& options = request.options;
  const bool has_limit = options.memory_bytes != std::numeric_limits<int64_t>::max();
  const uint64_t flags = uint64_t{options.allow_shard_to_partial} |
                         uint64_t{with_exact_rules && options.exact_rules} << 1 |
                         uint64_t{options.forbid_moves} << 2 | uint64_t{options.with_compute} << 3 |
                         uint64_t{has_limit} << 4 | uint64_t{has_orders(request)} << 5 |
                         uint64_t{!request.states.empty()} << 6;
  key.add(static_cast<uint64_t>(options.policy) | flags << 8 |
          static_cast<uint64_t>(request.inputs.size()) << 16 |
          static_cast<uint64_t>(request.call->inputs.size()) << 32 |
          static_cast<uint64_t>(required_of(request).size()) << 48);
  if (has_limit) key.add(static_cast<uint64_t>(options.memory_bytes));
}

void add_places(const SelectRequest& request, bool with_exact_rules, KeyWriter& key) {
  key.add(std::bit_cast<uint64_t>(request.op));
  add_options(request, with_exact_rules, key);
  const Call& call = *request.call;
  add_arguments(call, key);
  for (size_t slot = 0; slot < call.inputs.size() && slot < request.inputs.size(); ++slot) {
    if (!call.inputs[slot]) {
      key.add(uint64_t{0});
      continue;
    }
    key.add(*call.inputs[slot]);
    key.add(request.inputs[slot]);
  }
  add_memory(request, key);
  for (const Layout* layout : required_of(request)) {
    if (layout == nullptr) {
      key.add(uint64_t{0});
    } else {
      key.add(*layout);
    }
  }
}

bool sees_local_attributes(const SelectRequest& request) {
  const Op& op = *request.op;
  const Op& asked = op.plain == nullptr ? op : *op.plain;
  return asked.accept_fn != nullptr || asked.depends_on_output_placement() ||
         (request.options.with_compute && asked.cost_fn != nullptr);
}

void add_rule(const Rule& rule, KeyWriter& key) {
  key.add(uint64_t{rule.even_only} | uint64_t{rule.to_rounding} << 1 |
          rule.requirements.size() << 2);
  key.add(rule.tag);
  key.add(std::span<const Placement>(rule.outputs));
  key.add(std::span<const Placement>(rule.inputs));
  for (const Requirement& need : rule.requirements) {
    key.add(static_cast<uint64_t>(need.slot) << 32 | static_cast<uint64_t>(need.dim) << 1 |
            need.is_output);
    key.add(static_cast<uint64_t>(need.multiple));
  }
}

}  // namespace

void request_key(const SelectRequest& request, MemoKey& key) {
  KeyWriter writer(key);
  add_places(request, true, writer);
  add_attributes(*request.call, writer);
}

void meaning_key(const SelectRequest& request, std::span<const OptionalOutput> outputs,
                 const RuleChoices& choices, MemoKey& key) {
  KeyWriter writer(key);
  add_places(request, false, writer);
  if (sees_local_attributes(request)) add_attributes(*request.call, writer);
  for (const OptionalOutput& output : outputs) {
    if (!output) {
      writer.add(uint64_t{0});
      continue;
    }
    writer.add(output->meta);
    writer.add(static_cast<uint64_t>(output->view_of_input));
    writer.add(static_cast<uint64_t>(output->storage_offset));
  }
  for (const RuleChoice& choice : choices.rules()) add_rule(choice.rule, writer);
}

}  // namespace onedim
