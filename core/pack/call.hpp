#pragma once
// Call: one concrete call of an op, by description: tensor metas in slots (schema order, lists
// flattened), attributes with the schema's defaults filled in. A number given for a Tensor argument
// is an attribute of that name and has no slot. Data is kept apart (see Kernel), so one Call serves
// many draws.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pack/schema.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

struct SlotRange {
  int first = -1;  // -1: the argument has no slot, look among the attributes
  int count = 0;
};

struct Call {
  const Schema* schema = nullptr;  // owned by the registry
  std::vector<OptionalMeta> inputs;
  std::vector<SlotRange> arguments;                       // one per schema argument
  std::vector<std::pair<std::string, Value>> attributes;  // schema order
  uint64_t seed = 0;
  uint64_t call_id = 0;

  const Value* attribute(std::string_view name) const;
};

// How the values of one input slot are drawn: `f32[5]:positive`, `i64[4]:index(6)`,
// `i32[3]:offsets(12)`, `i64[3]:values(0,2,5)`. Empty: any finite value.
struct Domain {
  std::string name;  // positive nonnegative nonzero unit probability index offsets nonfinite values
  std::vector<Value> arguments;
  bool operator==(const Domain&) const = default;
};

// A call as text: tensors in schema order, then attributes: `f32[4,6]; [f32[2]; f32[3]]; -;
// alpha=-2`. The brackets of a list are optional where it is the op's only tensor argument.
struct CallText {
  Call call;
  std::vector<Domain> domains;  // one per input slot
};
Result<CallText> parse_call(const Schema& schema, std::string_view text);
// The same from the command line's parts: `inputs` as above, attributes as `name=value` texts.
Result<CallText> parse_call(const Schema& schema, std::string_view inputs,
                            std::span<const std::string> attributes);
// Text that parse_call reads back; defaults are left out.
std::string format_call(const Call& call, std::span<const Domain> domains);
// The tensors alone, one text per slot.
std::vector<std::string> format_inputs(const Call& call);
// The attributes that differ from the schema's defaults, those without a default always.
std::vector<std::pair<std::string, Value>> given_attributes(const Call& call);
// The whole text must be one domain, without the colon: `index(6)`.
Result<Domain> parse_domain(std::string_view text);

// Assigns a list of values to arguments by name, checks types against the schema, fills defaults.
// `tensors` holds, per schema argument, its metas (empty for non-tensors, numbers, and tensors that
// are absent). device, layout, pin_memory, memory_format and generator are accepted where the
// schema lacks them, and have no effect.
Result<Call> make_call(const Schema& schema, std::vector<std::vector<OptionalMeta>> tensors,
                       std::vector<std::pair<std::string, Value>> attributes);

}  // namespace onedim
