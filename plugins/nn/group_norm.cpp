// group_norm of [N,C,...]: each group of C/G neighbouring channels of one batch element is a set
// (groups.hpp). The batch may be sharded, and channels where no group is cut: with 6 channels in 3
// groups over 3 ranks native_group_norm is `S(1), S(1), S(1) | S(1), S(0), S(0)`, where each
// parameter may also be whole. Cuts of the area, and any cut of the channels, leave a joint partial
// (normalisation_joint.hpp): over 4 ranks, where group 1 is cut,
// `P(nn.group_norm#0), P(nn.group_norm#1), P(nn.group_norm#2) | S(1), S(0), S(0)`.
// layer_norm's `S(1), R, R | R, S(0), S(0)` has no counterpart: a state divides the channels of its
// result evenly among its groups, which such channels of a whole input are not.

#include "groups.hpp"
#include "normalisation_joint.hpp"

namespace nn {
namespace {

constexpr const char* kGroupNorm = "nn.group_norm";

// A group of one element is its own mean, so its normalised value is 0.
std::vector<Law> laws_of(const Call& call, const Groups& groups) {
  if (groups.size * groups.area == 1)
    return {{{"bias"}, {{kIdentity, {"bias"}}}}, {{"input"}, {{kIdentity, {"input"}}}}, {{}, {}}};
  return {{{"input", "weight", "bias"}, affine_families(call)}, {{"input"}, {}}, {{"input"}, {}}};
}

// Cuts of the channels, each parameter with them or whole.
void cut_channels(const Call& call, LawRules& rules, const std::vector<Placement>& outputs,
                  const ChannelCut& cut) {
  for_each_parameter_cut(call, {"weight", "bias"}, cut.parameter,
                         [&](std::vector<RuleSink::Named> inputs) {
                           inputs.push_back({"input", cut.input});
                           rules.add_cut(outputs, inputs, cut.options);
                         });
}

void emit_rules(const Call& call, RuleSink& sink) {
  const Groups groups = groups_of(call);
  LawRules rules(call, sink, laws_of(call, groups));
  rules.add_partials();
  rules.add_cut({any_shard(0), any_shard(0), any_shard(0)}, {{"input", any_shard(0)}});
  if (groups.group_count > 1) {
    const ChannelCut whole = cut_whole_groups(call, groups);
    cut_channels(call, rules, {whole.input, whole.input, whole.input}, whole);
  }
  const std::vector<Placement> joint = {partial(kGroupNorm, 0), partial(kGroupNorm, 1),
                                        partial(kGroupNorm, 2)};
  if (groups.size > 1) cut_channels(call, rules, joint, {any_shard(1), any_shard(0), {}});
  for (int dim = 2; dim < call.tensor("input").ndim(); ++dim)
    rules.add_cut(joint, {{"input", any_shard(dim)}});
}

void infer(const Call& call, OutputSink& outputs) {
  const Groups groups = groups_of(call);
  require_channels(call, {"weight", "bias"}, has_joint(call));
  const DType dtype = statistics_dtype(call, {"weight", "bias"});
  outputs.add(call.tensor("input").dtype(), norm_shape(call, group_norm_sets(call)));
  const Shape global = {call.attribute<int64_t>("N"), groups.group_count};
  const Shape own = {groups.batch, groups.size == 0 ? groups.group_count : groups.count()};
  for (int i = 1; i < 3; ++i) outputs.add(dtype, norm_statistics_shape(call, i, global, own));
}

void compute(const Call& call) {
  const Groups groups = groups_of(call);
  const Grouping grouping = {{groups.size * groups.area, groups.batch * groups.count(), {}},
                             groups.channel()};
  std::vector<double> x = load(call.tensor("input"));
  const Statistics statistics = statistics_of(x, grouping.set, Centre::kMean);
  const std::vector<double> rstd = statistics.rstd(call.attribute<double>("eps"));
  normalise(x, grouping, statistics.mean, rstd, load_channels(call, "weight"),
            load_channels(call, "bias"));
  store(x, call.output(0));
  store(statistics.mean, call.output(1));
  store(rstd, call.output(2));
}

}  // namespace

void declare_group_norm(Registrar& r) {
  declare_norm_kind(r, kGroupNorm, 3, group_norm_sets);
  r.op("native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt "
       "HxW, int group, float eps) -> (Tensor, Tensor, Tensor)")
      .summary("groups of channels made to mean 0 and variance 1; their mean and rstd")
      .position_aware()
      .infer(infer)
      .rules(emit_rules)
      .accept_local([](const Call& call) { accept_norm_cuts(call, group_norm_sets(call)); })
      .compute(kFloats, [](const Call& call, const onedim_execution_t&) { compute(call); })
      .cost(cost_per_element(8))
      .gradient({"native_group_norm_backward"})
      .samples({"f32[2,6,3]; f32[6]; f32[6]; N=2; C=6; HxW=3; group=3; eps=1e-05",
                "f64[5,4]; f64[4]; -; N=5; C=4; HxW=1; group=2; eps=0.1",
                "f64[3,5,2]; -; f64[5]; N=3; C=5; HxW=2; group=5; eps=0.001",
                "f64[2,4,1,3]; -; -; N=2; C=4; HxW=3; group=1; eps=1e-05",
                "bf16[3,4,2]; f32[4]; f32[4]; N=3; C=4; HxW=2; group=2; eps=1e-05"});
  declare_group_norm_gradient(r);
}

}  // namespace nn
