#pragma once
// What the joint partials of this pack share: whether a call leaves one, where the elements that a
// rank holds of one tensor stand in what it holds of another, and states that merge by adding up.
// A state has the local shape of the result, which mesh dims cut that do not leave the partial; a
// rank fills in the elements that it owns.
//   x [8] in two, result whole: rank 1 has x[4..7], which stand at 4..7
//   x [8] in four, by a of 2 and then by b of 2, the result by a: rank (1,1) has x[6..7], which
//   stand at 2..3 of its result[4..7]

#include <onedim/meeting_cuts.hpp>
#include <onedim/positions.hpp>

#include "families.hpp"

namespace nn {

// True if some mesh dim leaves a joint partial in this output.
bool has_joint(const Call& call, int output = 0);

// The shape of an input's global tensor.
Shape global_shape(const Call& call, std::string_view name);

// The local index in `in` of every local index of `of`, -1 where the rank holds no such element.
std::vector<int64_t> places(const Call& call, const TensorDim& of, const TensorDim& in);
// The same for all elements in row-major order, from the places in each dim of a tensor of these
// sizes.
std::vector<int64_t> flat_places(const std::vector<std::vector<int64_t>>& dims,
                                 std::span<const int64_t> sizes);
// The values at places that are all there.
std::vector<double> pick(const std::vector<double>& values, const std::vector<int64_t>& at);

// A mesh of several dims may cut two tensors in an order that a rank is not told, but where its
// parts lie says enough.
// For infer: the indices of `of` that a rank holds must be among those that it holds of `in`.
void require_within(const Call& call, const TensorDim& of, const TensorDim& in);
// For accept_local: ranks whose states merge must hold, together, just the indices that each holds
// of `result`. They do if no mesh dim cuts both; or if the same do and each rank's part lies in its
// result.
void accept_covering(const Call& call, const TensorDim& part, const TensorDim& result);

// Adds every tensor of one state to that of the other.
void add_states(std::span<const onedim_tensor_t> into, std::span<const onedim_tensor_t> from);

}  // namespace nn
