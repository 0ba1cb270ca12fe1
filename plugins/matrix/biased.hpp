#pragma once
// Rules of `beta * bias + alpha * product`, where the product is an einsum and the bias broadcasts
// to its shape. Both sides must be partial alike, except that equal values are a P(avg) and an
// ordered partial of the bias only shifts by a replicated product. A side with factor 0 is not
// looked at: any placement of it that keeps the local shapes together is right.

#include <onedim/einsum.hpp>

namespace matrix {

using namespace onedim::api;

struct Bias {
  int slot = 0;
  int first_operand = 1;  // slot
  std::complex<double> beta = 1;
  std::complex<double> alpha = 1;
};

void biased_rules(const Call& call, RuleSink& rules, std::string_view equation, const Bias& bias);

}  // namespace matrix
