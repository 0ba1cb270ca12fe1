#pragma once
// Stride check: a kernel reads its inputs at the strides given. The op is run on whole tensors that
// hold the same values transposed in memory and with gaps, and must give what it gives on row-major
// ones. Ops whose outputs are views depend on strides by nature and are left out, and so are calls
// that the op's infer or accept_local refuses at these strides.

#include "core/validate/place.hpp"

namespace onedim {

// DataLoss names the first input whose strides the kernel does not follow.
Status check_strides(Place& place);

}  // namespace onedim
