#pragma once
// OtherMoves: what it costs at least to bring all other inputs to layouts that some strategy puts
// beside a layout of one input, by the parts (MoveBound) of that layout. Of two others the least
// sum counts; of more, the least of each by itself, and their sum bounds what they cost together.

#include "core/redistribute/move_bound.hpp"
#include "core/select/rule_choices.hpp"

namespace onedim {

// One present input, as the sum needs it.
struct MovingInput {
  const MoveBound* bound = nullptr;
  size_t slot = 0;
  bool stays = false;  // has no layout but the current one
};

// `ends` becomes the table of `inputs[of]`.
void find_other_moves(const RuleChoices& choices, std::span<const MovingInput> inputs, size_t of,
                      std::vector<int64_t>& ends);

}  // namespace onedim
