#pragma once
// Input states: of inputs that are partials of a pack, the tensors of their state, as a flag gives
// them: `0=f64[8]; f64[8]` for the first input slot. They are global, as the inputs are.

#include <span>
#include <string>
#include <vector>

#include "core/pack/call.hpp"

namespace onedim {

using InputStates = std::vector<std::vector<TensorMeta>>;  // one per input slot

// One flag a slot; a slot that none names has no tensors. Empty without flags.
Result<InputStates> parse_states(std::span<const std::string> flags, const Call& call);

}  // namespace onedim
