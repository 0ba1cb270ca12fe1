#pragma once
// Input states: of inputs that are partials of a pack, the tensors of their state, as a flag gives
// them: `0=f64[8]; f64[8]` for the first input slot. They are global, as the inputs are.

#include <span>
#include <string>
#include <vector>

#include "core/pack/registry.hpp"
#include "tools/placed_call.hpp"

namespace onedim {

using InputStates = std::vector<std::vector<TensorMeta>>;  // one per input slot

// One flag a slot; a slot that none names has no tensors. Empty without flags. Errors name the
// flag.
Result<InputStates> parse_states(std::span<const std::string> flags, const PlacedCall& placed,
                                 const Registry& registry);

// `; --state 0='...' gives the state (max, sumexp) of input 0`, for each input that cannot move
// without; "" where there is none.
std::string missing_states(const InputStates& states, const PlacedCall& placed,
                           const Registry& registry);

}  // namespace onedim
