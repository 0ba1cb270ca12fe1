#pragma once
// Op draw: which ops a random test over all packs takes in one run, by the run's seed. An op is
// dealt to one of several ways to try it (a mesh, say), and of the forms of other ops (in-place,
// out=, over lists), whose rules are those of the plain op, one in four is taken at all. A long run
// (ONEDIM_TEST_LONG set) takes every op in every way.

#include <cstdlib>
#include <functional>
#include <string>

#include "core/pack/op.hpp"
#include "tests/random_seed.hpp"

namespace onedim {

inline bool is_long_run() { return std::getenv("ONEDIM_TEST_LONG") != nullptr; }

// Whether the op is tried in this way, from 0 to ways - 1.
inline bool is_drawn(const Op& op, size_t way = 0, size_t ways = 1) {
  const size_t draw = std::hash<std::string>()(op.name()) ^ random_seed();
  const bool is_taken = op.plain == nullptr || draw / ways % 4 == 0;
  return is_long_run() || (is_taken && draw % ways == way);
}

}  // namespace onedim
