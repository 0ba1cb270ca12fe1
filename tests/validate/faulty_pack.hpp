#pragma once
// Ops whose rules or kernels are wrong in ways that only values, sizes, strides or locations of a
// certain kind show: the validator must find each. Named `faulty.*`.

#include "core/pack/registry.hpp"

namespace onedim {

const Registry& faulty_registry();

}  // namespace onedim
