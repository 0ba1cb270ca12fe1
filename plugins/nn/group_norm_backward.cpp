// Gradient of group_norm (normalisation.hpp). The batch may be sharded, the parameters' gradients
// being P(sum) then, and channels where no group is cut. Other cuts of the channels, under which
// every rank has the statistics of all groups, and cuts of the area leave the input's gradient as a
// joint partial (normalisation_gradient.hpp); the parameters' are shards like the channels, or
// P(sum):
//   native_group_norm_backward of f32[2,6,4] in 2 groups over 4 ranks, which cut both groups:
//   `P(nn.group_norm_gradient#0), S(0), S(0) | S(1), S(1), R, R, S(0)`

#include "groups.hpp"
#include "normalisation_gradient.hpp"

namespace nn {
namespace {

constexpr const char* kGroupNorm = "nn.group_norm_gradient";

std::vector<Law> gradient_laws(const Groups& groups) {
  Families bias = {{kLinear, {"grad_out"}}};
  if (groups.batch * groups.area == 1) bias.push_back({kIdentity, {"grad_out"}});
  return {{{"grad_out", "input", "mean", "rstd", "weight"},
           {{kLinear, {"grad_out"}}, {kLinear, {"weight"}}}},
          {{"grad_out", "input", "mean", "rstd"},
           {{kLinear, {"grad_out"}}, {kLinear, {"input", "mean"}}, {kLinear, {"rstd"}}}},
          {{"grad_out"}, bias}};
}

void cut_channels(const Call& call, LawRules& rules, const Placement& grad_input,
                  const ChannelCut& cut, bool cuts_statistics) {
  for_each_parameter_cut(call, {"weight"}, cut.parameter, [&](std::vector<RuleSink::Named> inputs) {
    inputs.push_back({"grad_out", cut.input});
    inputs.push_back({"input", cut.input});
    if (cuts_statistics) {
      inputs.push_back({"mean", cut.input});
      inputs.push_back({"rstd", cut.input});
    }
    rules.add_cut({grad_input, cut.parameter, cut.parameter}, inputs, cut.options);
  });
}

void emit_gradient_rules(const Call& call, RuleSink& sink) {
  const Groups groups = groups_of(call);
  LawRules rules(call, sink, gradient_laws(groups));
  rules.add_partials();
  const Placement batch = any_shard(0), sum = partial("sum"), joint = partial(kGroupNorm);
  rules.add_cut({batch, sum, sum},
                {{"grad_out", batch}, {"input", batch}, {"mean", batch}, {"rstd", batch}});
  for (int dim = 2; dim < call.tensor("input").ndim(); ++dim) {
    const Placement area = any_shard(dim);
    rules.add_cut({joint, sum, sum}, {{"grad_out", area}, {"input", area}});
  }
  if (groups.group_count > 1) {
    const ChannelCut whole = cut_whole_groups(call, groups);
    cut_channels(call, rules, whole.input, whole, true);
  }
  if (groups.size > 1 || !call.output(0).present())
    cut_channels(call, rules, joint, {any_shard(1), any_shard(0), {}}, false);
}

// The group of every channel that the rank has, in the statistics that it has.
std::vector<int64_t> groups_here(const Call& call, const Groups& groups) {
  const auto list = [&](const char* name) {
    return global_indices(call, false, call.slot(name), 1, call.tensor(name).size(1));
  };
  std::vector<int64_t> local(static_cast<size_t>(groups.group_count), -1);
  int64_t next = 0;
  for (const int64_t group : list("mean")) local[static_cast<size_t>(group)] = next++;
  std::vector<int64_t> own = list("input");
  for (int64_t& channel : own) {
    channel = local[static_cast<size_t>(channel / groups.size)];
    require(channel >= 0, "the statistics of a channel's group are on another rank");
  }
  return own;
}

// An input's gradient that is no joint partial needs whole groups and the statistics of these
// alone.
void check_statistics(const Call& call, const Groups& groups, bool wants_input) {
  for (const char* name : {"mean", "rstd"}) {
    const Shape global = {call.attribute<int64_t>("N"), groups.group_count};
    const TensorView statistics = call.tensor(name);
    if (global_shape(call, name) != global) require_shape(statistics, global, name);
    require_shape(statistics, Shape{groups.batch, call.tensor("mean").size(1)}, name);
  }
  const bool is_alone = wants_input && !has_joint(call);
  if (is_alone) require_whole_sets(call, group_norm_sets(call));
  if (is_alone && groups.size > 0)
    require_shape(call.tensor("mean"), Shape{groups.batch, groups.count()}, "mean");
  if (groups.size > 0) groups_here(call, groups);
}

void infer_gradient(const Call& call, OutputSink& outputs) {
  const Groups groups = groups_of(call);
  const std::vector<bool> mask = output_mask(call, 3);
  const TensorView input = call.tensor("input");
  require_shape(call.tensor("grad_out"), input.shape(), "grad_out");
  require(call.tensor("grad_out").dtype() == input.dtype(), "grad_out and input need one dtype");
  require_channels(call, {"weight"}, false);
  check_statistics(call, groups, mask[0]);
  const DType parameters = call.tensor(call.has_tensor("weight") ? "weight" : "mean").dtype();
  for (size_t slot = 0; slot < 3; ++slot) {
    if (!mask[slot])
      outputs.add_absent();
    else if (slot == 0)
      outputs.add(input.dtype(), norm_shape(call, group_norm_sets(call)));
    else
      outputs.add(parameters, {groups.channels});
  }
}

GradientParts parts_of(const Call& call) {
  const Groups groups = groups_of(call);
  GradientParts parts;
  parts.grad = load(call.tensor("grad_out"));
  parts.x = load(call.tensor("input"));
  parts.mean = load(call.tensor("mean"));
  parts.rstd = load(call.tensor("rstd"));
  parts.weight = load_channels(call, "weight");
  parts.grouping.parameter = groups.channel();
  const int64_t here = call.tensor("mean").size(1);
  parts.grouping.set = {groups.size * groups.area, groups.batch * here, {}};
  if (groups.channels == here * groups.size) return parts;
  std::vector<std::vector<int64_t>> dims(2);
  for (int64_t i = 0; i < groups.batch; ++i) dims[0].push_back(i);
  dims[1] = groups_here(call, groups);
  dims.emplace_back(static_cast<size_t>(groups.area), 0);
  parts.grouping.set.table = flat_places(dims, Shape{groups.batch, here, 1});
  return parts;
}

}  // namespace

void declare_group_norm_gradient(Registrar& r) {
  declare_norm_gradient_kind(r, kGroupNorm, group_norm_sets, parts_of);
  r.op("native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, "
       "Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> "
       "(Tensor?, Tensor?, Tensor?)")
      .summary("gradients of native_group_norm: of its input, weight and bias, as the mask wants")
      .position_aware()
      .infer(infer_gradient)
      .rules(emit_gradient_rules)
      .accept_local([](const Call& call) { accept_input_cuts(call, group_norm_sets(call)); })
      .compute(kFloats,
               [](const Call& call, const onedim_execution_t&) {
                 store_gradient(call, differentiate(parts_of(call), From::kOwnElements));
               })
      .cost(cost_per_element(14))
      .samples({"f32[2,6,1]; f32[2,6,1]; f32[2,3]; f32[2,3]; f32[6]; N=2; C=6; HxW=1; group=3; "
                "output_mask=[true,true,true]",
                "f64[5,2,1]; f64[5,2,1]; f64[5,1]; f64[5,1]; -; N=5; C=2; HxW=1; group=1; "
                "output_mask=[true,false,false]",
                "f64[2,4,2]; f64[2,4,2]; f64[2,2]; f64[2,2]; f64[4]; N=2; C=4; HxW=2; group=2; "
                "output_mask=[false,true,true]",
                "f64[3,3]; f64[3,3]; f64[3,3]; f64[3,3]; f64[3]; N=3; C=3; HxW=1; group=3; "
                "output_mask=[true,true,false]",
                "bf16[2,4]; bf16[2,4]; f32[2,2]; f32[2,2]; f32[4]; N=2; C=4; HxW=1; group=2; "
                "output_mask=[true,true,true]"});
}

}  // namespace nn
