#pragma once
// Mutants: how sharp the validator is. Every declared rule of a case is changed in one slot to
// every other placement of that slot's alphabet. A mutant is false if this search refutes it, or a
// longer search with other values and one more world does; it is caught if this search refutes it.
// A mutant both searches let pass is taken for true.

#include "core/validate/case_setup.hpp"
#include "core/validate/op_report.hpp"

namespace onedim {

// Adds the case's mutants to `count`.
Status count_mutants(const Op& op, const CallText& sample, const Registry& registry,
                     const CaseOptions& options, MutantCount& count);

}  // namespace onedim
