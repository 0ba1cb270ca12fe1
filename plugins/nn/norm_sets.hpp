#pragma once
// Sets of a norm (normalisation.hpp), whole or cut: how many neighbours in each dim of the input
// belong to one set. The statistics of an input have its shape divided by these.
//   layer_norm of [4,6] over [6]: 1 x 6, statistics [4,1]
//   group_norm of [2,6,3] in 3 groups: 1 x 2 x 3, statistics [2,3,1]

#include "joint_states.hpp"
#include "normalisation.hpp"

namespace nn {

struct Sets {
  Shape span;                           // the global length of a dim that each set covers
  std::vector<bool> parameter;          // dims of the input that the parameters have
  std::vector<const char*> parameters;  // those that the op reads, weight first
  Centre centre = Centre::kMean;
  double eps = 0;

  double size() const { return static_cast<double>(product_of(span)); }
  bool covers(const Call& call, size_t dim) const {
    return span[dim] == call.global_size(false, call.slot("input"), static_cast<int>(dim));
  }
};

// Of `shape`, the local one of input or result.
Shape statistics_shape(const Call& call, const Sets& sets, Shape shape);

// Where the local elements of the input stand in the local result and in its statistics.
std::vector<int64_t> input_places(const Call& call);
std::vector<int64_t> set_places(const Call& call, const Sets& sets);
// Where each element of a tensor finds its number in a coarser one, whose sizes divide its own.
std::vector<size_t> coarse_places(std::span<const int64_t> shape, std::span<const int64_t> coarse);

// For what is no joint partial: no set of the local input may be cut.
void require_whole_sets(const Call& call, const Sets& sets);
// The local shape of output 0, that of the input: its location's for a joint partial, else the
// input's own, whose sets must be whole.
Shape norm_shape(const Call& call, const Sets& sets);
// For accept_local: what ranks hold of the input must make up the result.
void accept_input_cuts(const Call& call, const Sets& sets);
std::vector<int> parameter_dims(const Sets& sets);

// Calls `add` with the cuts of every choice of the parameters that are there to be cut: each may
// also be whole on all ranks. `cut` is theirs.
void for_each_parameter_cut(const Call& call, const std::vector<const char*>& parameters,
                            const Placement& cut,
                            const std::function<void(const std::vector<RuleSink::Named>&)>& add);

}  // namespace nn
