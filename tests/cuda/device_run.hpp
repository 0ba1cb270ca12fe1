#pragma once
// One call run twice, by the op's CPU kernel and by its CUDA kernel, on random tensors of random
// strides, and the results compared.

#include <string>
#include <string_view>

#include "core/pack/local_call.hpp"
#include "core/validate/random.hpp"
#include "tests/cuda/device.hpp"

namespace onedim {

// What differs, or what fails; "" if nothing does. `domains` as of the call's text.
std::string compare_kernels(const Op& op, const Call& call, std::span<const Domain> domains,
                            const Location* location, Device& device, Random& random);

// The call on whole tensors.
std::string compare_whole(DeviceKind kind, Device& device, std::string_view op,
                          std::string_view call, Random& random);
// The local calls of all ranks of a mesh; layouts are separated by `;`, `S(0),R; R,R`.
std::string compare_ranks(DeviceKind kind, Device& device, std::string_view op,
                          std::string_view call, std::string_view mesh, std::string_view outputs,
                          std::string_view inputs, Random& random);

}  // namespace onedim
