#include "core/pack/sink.hpp"

#include "core/pack/abi_read.hpp"

namespace onedim {
namespace {

Sink* from_abi(onedim_sink_t* sink) { return reinterpret_cast<Sink*>(sink); }

// Reads with `read` and appends to `list`; whatever goes wrong becomes the sink's fault.
template <typename Read, typename List>
int32_t emit(onedim_sink_t* handle, List Sink::*list, std::string_view what, Read read) noexcept {
  Sink* sink = from_abi(handle);
  if (sink == nullptr) return ONEDIM_STATUS_INVALID_ARGUMENT;
  try {
    auto value = (sink->*list).size() < kMaxCount
                     ? read()
                     : decltype(read())(invalid_argument("more than {} emissions", kMaxCount));
    if (value.ok()) {
      (sink->*list).push_back(*std::move(value));
      return ONEDIM_OK;
    }
    if (sink->fault.ok())
      sink->fault = annotate(value.status(), fmt::format("{} {}", what, (sink->*list).size()));
    return ONEDIM_STATUS_INVALID_ARGUMENT;
  } catch (...) {
    return ONEDIM_STATUS_RESOURCE_EXHAUSTED;
  }
}

Result<Rule> read_rule_text(onedim_text_t text, uint64_t flags, uint64_t tag) {
  Result<std::string> rule_text = read_text(text, "the rule's text");
  if (!rule_text.ok()) return rule_text.status();
  constexpr uint64_t kKnownFlags = ONEDIM_RULE_EVEN_ONLY | ONEDIM_RULE_TO_ROUNDING;
  if ((flags & ~kKnownFlags) != 0) return invalid_argument("flags {:#x} has unknown bits", flags);
  Result<Rule> rule = parse_rule(*rule_text);
  if (!rule.ok()) return rule;
  rule->even_only = (flags & ONEDIM_RULE_EVEN_ONLY) != 0;
  rule->to_rounding = (flags & ONEDIM_RULE_TO_ROUNDING) != 0;
  rule->tag = tag;
  return rule;
}

}  // namespace

onedim_sink_t* to_abi(Sink* sink) { return reinterpret_cast<onedim_sink_t*>(sink); }

int32_t emit_output(onedim_sink_t* sink, const onedim_output_t* output) noexcept {
  return emit(sink, &Sink::outputs, "output", [&] { return read_output(output); });
}

int32_t emit_rule(onedim_sink_t* sink, const onedim_rule_t* rule) noexcept {
  return emit(sink, &Sink::rules, "rule", [&] { return read_rule(rule); });
}

int32_t emit_rule_text(onedim_sink_t* sink, onedim_text_t rule, uint64_t flags,
                       uint64_t tag) noexcept {
  return emit(sink, &Sink::rules, "rule", [&] { return read_rule_text(rule, flags, tag); });
}

int32_t emit_sample(onedim_sink_t* sink, onedim_text_t sample) noexcept {
  return emit(sink, &Sink::samples, "sample",
              [&] { return read_text(sample, "the sample's text"); });
}

}  // namespace onedim
