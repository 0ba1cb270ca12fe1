#pragma once
// Op coverage: which of the ops that a graph uses, or that a list names, the loaded packs offer,
// and which of these only ever run replicated: no sample of theirs has a rule that shards a tensor
// or declares a partial.

#include <string>
#include <vector>

#include "core/pack/registry.hpp"

namespace onedim {

// The op names of a `onedim.graph/1` file, each once, in order.
Result<std::vector<std::string>> read_graph_ops(const std::string& path);

// One name a line, `#` begins a comment; `aten.` in front is dropped.
Result<std::vector<std::string>> read_op_names(const std::string& path);

struct OpCoverage {
  size_t needed = 0;
  size_t present = 0;
  std::vector<std::string> missing;
  std::vector<std::string> replicate_only;
};

// Base names are there if any overload is, and replicate-only if all overloads are.
Result<OpCoverage> op_coverage(const Registry& registry, const std::vector<std::string>& names,
                               bool are_base_names);

}  // namespace onedim
