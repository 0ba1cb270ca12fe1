#pragma once
// Sinks: where a pack's callbacks push what they emit: output descriptions, rules, samples.

#include <onedim/call.hpp>
#include <onedim/inline.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace onedim::api {

using Shape = std::vector<int64_t>;

// One output as infer describes it.
struct Output {
  DType dtype = DType::kF32;
  Shape shape;
  Shape strides;           // empty: row-major
  int view_of_input = -1;  // slot whose storage it shares
  int64_t storage_offset = 0;
};

class OutputSink {
 public:
  OutputSink(const onedim_host_t* host, onedim_sink_t* sink) : host_(host), sink_(sink) {}
  void add(const Output& output) {
    onedim_output_t raw{};
    raw.struct_size = sizeof raw;
    raw.present = 1;
    raw.dtype = static_cast<int32_t>(output.dtype);
    raw.ndim = static_cast<int32_t>(output.shape.size());
    raw.view_of_input = output.view_of_input;
    raw.shape = output.shape.data();
    raw.strides = output.strides.size() == output.shape.size() ? output.strides.data() : nullptr;
    raw.storage_offset = output.storage_offset;
    check(host_->emit_output(sink_, &raw));
  }
  void add(DType dtype, Shape shape) { add(Output{dtype, std::move(shape), {}, -1, 0}); }
  void add_absent() {
    onedim_output_t raw{};
    raw.struct_size = sizeof raw;
    raw.view_of_input = -1;
    check(host_->emit_output(sink_, &raw));
  }

 private:
  static void check(int32_t status) {
    if (status != ONEDIM_OK) fail("the host refused an output description", status);
  }
  const onedim_host_t* host_;
  onedim_sink_t* sink_;
};

using Placement = onedim_placement_t;
constexpr Placement absent() { return {}; }
constexpr Placement replicate() { return {ONEDIM_PLACEMENT_REPLICATE, 0, 0, {}, 0, 0}; }
constexpr Placement shard(int dim) { return {ONEDIM_PLACEMENT_SHARD, dim, 0, {}, 0, 0}; }
constexpr Placement any_shard(int dim) { return {ONEDIM_PLACEMENT_ANY_SHARD, dim, 0, {}, 0, 0}; }
// `kind` must outlive the emission; a string literal does.
constexpr Placement partial(std::string_view kind, int component = 0) {
  return {ONEDIM_PLACEMENT_PARTIAL, 0, 0, {kind.data(), kind.size()}, component, 0};
}
ONEDIM_INLINE bool is_replicate(const Placement& p) { return p.kind == ONEDIM_PLACEMENT_REPLICATE; }

struct RuleOptions {
  uint64_t flags = 0;  // ONEDIM_RULE_...
  uint64_t tag = 0;
  std::vector<onedim_requirement_t> requirements;
};

class RuleSink {
 public:
  RuleSink(const onedim_host_t* host, onedim_sink_t* sink, const Call& call)
      : host_(host), sink_(sink), call_(call) {}

  // `P(sum) | S(1), S(0)`, one placement per slot.
  void add(std::string_view rule, uint64_t flags = 0, uint64_t tag = 0) {
    check(host_->emit_rule_text(sink_, text_of(rule), flags, tag));
  }
  void add(std::span<const Placement> outputs, std::span<const Placement> inputs,
           const RuleOptions& options = {}) {
    onedim_rule_t raw{};
    raw.struct_size = sizeof raw;
    raw.outputs = outputs.data();
    raw.output_count = outputs.size();
    raw.inputs = inputs.data();
    raw.input_count = inputs.size();
    raw.requirements = options.requirements.data();
    raw.requirement_count = options.requirements.size();
    raw.flags = options.flags;
    raw.tag = options.tag;
    check(host_->emit_rule(sink_, &raw));
  }
  // All outputs placed as `output`; the arguments named placed as said, the others replicated. A
  // number has no slot: an argument that should be partial but is a number is the same on all
  // ranks, so the rule is emitted only where that partial kind allows it (avg, max, min).
  using Named = std::pair<std::string_view, Placement>;
  void add_named(const Placement& output, std::initializer_list<Named> inputs,
                 const RuleOptions& options = {}) {
    std::vector<Placement> placements(call_.input_count(), replicate());
    for (int slot = 0; slot < call_.input_count(); ++slot) {
      if (!call_.input(slot).present()) placements[slot] = absent();
    }
    for (const auto& [name, placement] : inputs) {
      const onedim_argument_t& argument = call_.argument(name);
      if (argument.first_slot < 0) {
        if (!holds_for_numbers(placement)) return;
        continue;
      }
      for (int i = 0; i < argument.slot_count; ++i) {
        Placement& slot = placements[argument.first_slot + i];
        if (slot.kind != ONEDIM_PLACEMENT_NONE) slot = placement;
      }
    }
    const std::vector<Placement> outputs(call_.output_count(), output);
    add(outputs, placements, options);
  }

 private:
  static bool holds_for_numbers(const Placement& placement) {
    if (is_replicate(placement)) return true;
    if (placement.kind != ONEDIM_PLACEMENT_PARTIAL) return false;
    const std::string_view kind = view_of(placement.partial);
    return kind == "avg" || kind == "max" || kind == "min";
  }
  static void check(int32_t status) {
    if (status != ONEDIM_OK) fail("the host refused a rule", status);
  }
  const onedim_host_t* host_;
  onedim_sink_t* sink_;
  const Call& call_;
};

class SampleSink {
 public:
  SampleSink(const onedim_host_t* host, onedim_sink_t* sink) : host_(host), sink_(sink) {}
  void add(std::string_view sample) {
    const int32_t status = host_->emit_sample(sink_, text_of(sample));
    if (status != ONEDIM_OK) fail("the host refused a sample", status);
  }

 private:
  const onedim_host_t* host_;
  onedim_sink_t* sink_;
};

}  // namespace onedim::api
