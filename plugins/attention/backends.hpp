#pragma once
// The backends' forms of attention: one declaration, in which only names, outputs and the place of
// the causal mask differ.

#include "problem.hpp"

namespace attention {

void declare_backends(Registrar& r);

}  // namespace attention
