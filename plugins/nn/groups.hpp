#pragma once
// Groups of group_norm: each group of C/G neighbouring channels of one batch element, in all their
// area, is a set. N, C, HxW and group are numbers of the global tensor.
//   [2,6,3] in 3 groups: 6 sets of 2 x 3 elements, statistics [2,3]

#include "norm_sets.hpp"

namespace nn {

struct Groups {
  int64_t batch = 0, channels = 0, area = 0;  // of this rank
  int64_t size = 0;                           // channels of a group
  int64_t group_count = 0;                    // of the global tensor

  int64_t count() const { return size == 0 ? 0 : channels / size; }  // of whole groups here
  Index channel() const { return {area, channels, {}}; }
};

// Refused where the numbers are not those of the input.
Groups groups_of(const Call& call);
Sets group_norm_sets(const Call& call);

// Refuses parameters that are not of all channels in the global tensor, or lack one of the input's
// here unless a joint partial merges them.
void require_channels(const Call& call, const std::vector<const char*>& names, bool merges);
// The values of an optional parameter at the input's channels.
std::vector<double> load_channels(const Call& call, std::string_view name);

// A cut of the channels that leaves whole groups on every rank; a strided shard would tear groups
// of several channels.
struct ChannelCut {
  Placement input, parameter;
  RuleOptions options;
};
ChannelCut cut_whole_groups(const Call& call, const Groups& groups);

void declare_group_norm_gradient(Registrar& r);

}  // namespace nn
