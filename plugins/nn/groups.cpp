#include "groups.hpp"

namespace nn {

Groups groups_of(const Call& call) {
  const TensorView input = call.tensor("input");
  const auto n = call.attribute<int64_t>("N"), c = call.attribute<int64_t>("C");
  const auto area = call.attribute<int64_t>("HxW"), group = call.attribute<int64_t>("group");
  require(input.ndim() >= 2, "the input needs at least two dims, batch and channels");
  const Shape global = global_shape(call, "input");
  if (global[0] != n || global[1] != c || product_of(std::span(global).subspan(2)) != area)
    fail("N, C and HxW are " + std::to_string(n) + ", " + std::to_string(c) + " and " +
         std::to_string(area) + ", expected the sizes of the input " + format_shape(input.shape()));
  require(group > 0 && c % group == 0, "the channels must be a multiple of the groups");
  return {input.size(0), input.size(1), product_of(input.shape().subspan(2)), c / group, group};
}

Sets group_norm_sets(const Call& call) {
  Sets sets;
  sets.span = global_shape(call, "input");
  sets.span[0] = 1;
  sets.span[1] = groups_of(call).size;
  sets.parameter.assign(sets.span.size(), false);
  sets.parameter[1] = true;
  sets.parameters = {"weight", "bias"};
  if (call.has_attribute("eps")) sets.eps = call.attribute<double>("eps");
  return sets;
}

void require_channels(const Call& call, const std::vector<const char*>& names, bool merges) {
  for (const char* name : names) {
    if (!call.has_tensor(name)) continue;
    const Shape channels = {call.attribute<int64_t>("C")};
    if (global_shape(call, name) != channels) require_shape(call.tensor(name), channels, name);
    if (!merges) require_within(call, {false, call.slot("input"), 1}, {false, call.slot(name), 0});
  }
}

std::vector<double> load_channels(const Call& call, std::string_view name) {
  if (!call.has_tensor(name)) return {};
  std::vector<double> values = load(call.tensor(name));
  // As many as are needed, and these are among them.
  if (call.tensor(name).size(0) == call.tensor("input").size(1)) return values;
  return pick(values, places(call, {false, call.slot("input"), 1}, {false, call.slot(name), 0}));
}

ChannelCut cut_whole_groups(const Call& call, const Groups& groups) {
  if (groups.size == 1) return {any_shard(1), any_shard(0), {}};
  RuleOptions options;
  options.requirements = {{0, call.slot("input"), 1, 0, groups.size}};
  return {shard(1), shard(0), options};
}

}  // namespace nn
