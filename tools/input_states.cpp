#include "tools/input_states.hpp"

#include <charconv>

#include "core/base/text.hpp"
#include "core/select/input_state.hpp"

namespace onedim {
namespace {

Status no_slot(std::string_view text, size_t count) {
  return invalid_argument("--state: {} names no input slot, expected {}", quoted_excerpt(text),
                          count == 0 ? std::string("none, as the call has no inputs")
                                     : fmt::format("a number below {}", count));
}

Status check_state(size_t slot, std::span<const TensorMeta> state, const PlacedCall& placed,
                   const Registry& registry) {
  const OptionalMeta& meta = placed.call.inputs[slot];
  if (!meta) return invalid_argument("the input is absent; leave it out");
  return check_input_state(registry, *meta, placed.layouts[slot], state);
}

}  // namespace

Result<InputStates> parse_states(std::span<const std::string> flags, const PlacedCall& placed,
                                 const Registry& registry) {
  if (flags.empty()) return InputStates();
  InputStates states(placed.call.inputs.size());
  for (const std::string_view flag : flags) {
    const size_t equals = flag.find('=');
    if (equals == flag.npos) {
      return invalid_argument("--state: {} is no state, expected one such as '0=f64[8]; f64[8]'",
                              quoted_excerpt(flag));
    }
    const std::string_view name = trim(flag.substr(0, equals));
    size_t slot = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), slot);
    if (error != std::errc() || end != name.data() + name.size() || slot >= states.size())
      return no_slot(name, states.size());
    if (!states[slot].empty())
      return invalid_argument("--state: input {} is given two states, expected one flag", slot);
    for (const std::string_view part : split_top_level(flag.substr(equals + 1), ';')) {
      Result<TensorMeta> meta = parse_meta(part);
      if (!meta.ok()) return annotate(meta.status(), fmt::format("--state {}", slot));
      states[slot].push_back(*std::move(meta));
    }
    if (states[slot].empty())
      return invalid_argument("--state: input {} is given no tensor, expected one such as f64[8]",
                              slot);
    if (Status status = check_state(slot, states[slot], placed, registry); !status.ok())
      return annotate(status, fmt::format("--state {}", slot));
  }
  return states;
}

std::string missing_states(const InputStates& states, const PlacedCall& placed,
                           const Registry& registry) {
  std::string text;
  for (size_t slot = 0; slot < placed.call.inputs.size(); ++slot) {
    if (!placed.call.inputs[slot] || (!states.empty() && !states[slot].empty())) continue;
    const PartialKind* kind = own_kind(registry, placed.layouts[slot]);
    if (kind == nullptr || !kind->has_hidden_state()) continue;
    text += fmt::format("; --state {}='..' gives the state ({}) of input {}", slot,
                        fmt::join(kind->components, ", "), slot);
  }
  return text;
}

}  // namespace onedim
