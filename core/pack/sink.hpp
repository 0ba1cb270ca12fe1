#pragma once
// Sink: collects what one callback emits, checked and copied as it comes. The first ill-formed
// emission is kept as the fault, which fails the callback even if it ignores the refusal.

#include <onedim/pack.h>

#include <string>
#include <vector>

#include "core/pack/op.hpp"

namespace onedim {

struct Sink {
  std::vector<OptionalOutput> outputs;
  std::vector<Rule> rules;
  std::vector<std::string> samples;
  Status fault;  // the first ill-formed emission
};

onedim_sink_t* to_abi(Sink* sink);

// The host table's functions.
int32_t emit_output(onedim_sink_t* sink, const onedim_output_t* output) noexcept;
int32_t emit_rule(onedim_sink_t* sink, const onedim_rule_t* rule) noexcept;
int32_t emit_rule_text(onedim_sink_t* sink, onedim_text_t rule, uint64_t flags,
                       uint64_t tag) noexcept;
int32_t emit_sample(onedim_sink_t* sink, onedim_text_t sample) noexcept;

}  // namespace onedim
