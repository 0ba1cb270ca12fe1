#pragma once
// Optimiser steps over lists of tensors: whatever an element's rule, the others may have theirs.

#include <onedim/pack.hpp>

namespace optim {

using namespace onedim::api;

void declare_adam(Registrar& r);     // _fused_adam, _fused_adamw
void declare_unscale(Registrar& r);  // _amp_foreach_non_finite_check_and_unscale

// What may be chosen for the elements of a list: R or a shard for each. All combinations where they
// are few, else the same dim for all elements that have it. All R comes first.
std::vector<std::vector<Placement>> shard_choices(const std::vector<TensorView>& list);

}  // namespace optim
