#pragma once
// The shard rules of ops that keep the row-major index; see reshape_rules.cpp.

#include <onedim/pack.hpp>

namespace shape {

using namespace onedim::api;

// Of input 0 of shape `from` and output 0 of shape `to`, with as many elements.
void reshape_rules(RuleSink& rules, const Shape& from, const Shape& to);

}  // namespace shape
