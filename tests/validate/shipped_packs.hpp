#pragma once
// The packs of this build, and the rules that an outside oracle found true
// (tests/data/truth_rules).

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/shipped_registry.hpp"

namespace onedim {

// One judged call: the rules that hold on exactly these sizes in worlds 2, 3 and 4.
struct TruthEntry {
  std::string op;
  std::string call;             // as parse_call reads it, domains included
  std::set<std::string> rules;  // those that hold everywhere
  std::set<std::string> even;   // those that hold only where the sharded dims divide
  std::set<std::string>
      listed_inputs;  // input combinations that the oracle lists; of all R only some are
};

// Entries of the ops in `registry`. Absent files and calls that the schemas refuse end the test
// program.
std::vector<TruthEntry> truth_entries(const Registry& registry);

}  // namespace onedim
