#pragma once
// Op coverage: which of the ops that a graph uses, or that a list names, the loaded packs offer in
// full. An op counts as present if it has a kernel, enough samples, and rules that close on each of
// them; a base name if all its overloads do. Ops that only ever run replicated (no sample of theirs
// has a rule that shards a tensor or declares a partial) are told apart, each with why: what the
// validator found when it tried the other placements. What reports of the validator refute does not
// count either.

#include <string>
#include <vector>

#include "core/pack/registry.hpp"
#include "core/validate/op_report.hpp"

namespace onedim {

// The op names of a `onedim.graph/1` file, each once, in order.
Result<std::vector<std::string>> read_graph_ops(const std::string& path);

// One name a line, `#` begins a comment; `aten.` in front is dropped.
Result<std::vector<std::string>> read_op_names(const std::string& path);

struct NamedOps {
  std::string name;            // as asked for
  std::vector<const Op*> ops;  // empty: no pack offers it
  std::string lack;            // why it does not count as present; "" if it does
  bool replicates = false;     // only
  bool has_cuttable = false;   // some tensor of a sample has a dim of two or more
  std::string reason;          // why it only replicates
};

struct OpCoverage {
  std::vector<NamedOps> names;

  size_t present() const;
};

constexpr size_t kSamplesWanted = 5;  // of an op

OpCoverage op_coverage(const Registry& registry, const std::vector<std::string>& names,
                       bool are_base_names);

// The ops that `add_evidence` wants reports of, each once: of names that only replicate, or of all
// present ones.
std::vector<const Op*> ops_in_question(const OpCoverage& coverage, bool all);

void add_evidence(const std::vector<OpReport>& reports, OpCoverage& coverage);

}  // namespace onedim
