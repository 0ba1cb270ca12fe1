// group_norm of [N,C,...]: each group of C/G neighbouring channels of one batch element is a set
// (normalisation.hpp). The batch may be sharded, and channels where no group is cut: with 6
// channels in 3 groups over 3 ranks native_group_norm is `S(1), S(1), S(1) | S(1), S(0), S(0)`. The
// numbers N, C and group are those of the global tensor.

#include "normalisation.hpp"

namespace nn {
namespace {

struct Groups {
  int64_t batch, channels, spatial;  // local
  int64_t size;                      // channels of a group
  int64_t count() const { return channels / size; }

  Grouping grouping() const { return {{size * spatial, batch * count()}, {spatial, channels}}; }
};

Groups groups_of(const Call& call) {
  const TensorView input = call.tensor("input");
  const auto n = call.attribute<int64_t>("N"), c = call.attribute<int64_t>("C");
  const auto area = call.attribute<int64_t>("HxW"), group = call.attribute<int64_t>("group");
  require(input.ndim() >= 2, "the input needs at least two dims, batch and channels");
  const int slot = call.slot("input");
  int64_t global_area = 1;
  for (int dim = 2; dim < input.ndim(); ++dim) global_area *= call.global_size(false, slot, dim);
  const bool fits = call.global_size(false, slot, 0) == n &&
                    call.global_size(false, slot, 1) == c && global_area == area;
  if (!fits)
    fail("N, C and HxW are " + std::to_string(n) + ", " + std::to_string(c) + " and " +
         std::to_string(area) + ", expected the sizes of the input " + format_shape(input.shape()));
  require(group > 0 && c % group == 0, "the channels must be a multiple of the groups");
  Groups groups{input.size(0), input.size(1), product_of(input.shape().subspan(2)), c / group};
  require(groups.size == 0 || groups.channels % groups.size == 0, "a group is cut");
  return groups;
}

void check_channels(const Call& call, const Groups& groups,
                    std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (call.has_tensor(name)) require_shape(call.tensor(name), Shape{groups.channels}, name);
  }
}

// Whole groups on every rank; a strided shard would tear groups of several channels.
struct ChannelCut {
  Placement input, parameter;
  RuleOptions options;
};
ChannelCut channel_cut(const Call& call, const Groups& groups) {
  if (groups.size == 1) return {any_shard(1), any_shard(0), {}};
  RuleOptions options;
  options.requirements = {{0, call.slot("input"), 1, 0, groups.size}};
  return {shard(1), shard(0), options};
}

// A group of one element is its own mean, so its normalised value is 0.
std::vector<Law> laws_of(const Call& call, const Groups& groups) {
  if (groups.size * groups.spatial == 1)
    return {{{"bias"}, {{kIdentity, {"bias"}}}}, {{"input"}, {{kIdentity, {"input"}}}}, {{}, {}}};
  return {{{"input", "weight", "bias"}, affine_families(call)}, {{"input"}, {}}, {{"input"}, {}}};
}

void emit_rules(const Call& call, RuleSink& sink) {
  const Groups groups = groups_of(call);
  LawRules rules(call, sink, laws_of(call, groups));
  rules.add_partials();
  rules.add_cut({any_shard(0), any_shard(0), any_shard(0)}, {{"input", any_shard(0)}});
  if (groups.count() < 2) return;
  const ChannelCut cut = channel_cut(call, groups);
  rules.add_cut({cut.input, cut.input, cut.input},
                {{"input", cut.input}, {"weight", cut.parameter}, {"bias", cut.parameter}},
                cut.options);
}

void declare_forward(Registrar& r) {
  r.op("native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt "
       "HxW, int group, float eps) -> (Tensor, Tensor, Tensor)")
      .summary("groups of channels made to mean 0 and variance 1; their mean and rstd")
      .position_aware()
      .infer([](const Call& call, OutputSink& outputs) {
        const Groups groups = groups_of(call);
        check_channels(call, groups, {"weight", "bias"});
        const DType dtype = statistics_dtype(call, {"weight", "bias"});
        outputs.add(call.tensor("input").dtype(), shape_of(call.tensor("input")));
        for (int i = 0; i < 2; ++i) outputs.add(dtype, {groups.batch, groups.count()});
      })
      .rules(emit_rules)
      .compute(kFloats,
               [](const Call& call, const onedim_execution_t&) {
                 const Grouping grouping = groups_of(call).grouping();
                 std::vector<double> x = load(call.tensor("input"));
                 const Statistics statistics = statistics_of(x, grouping.set, Centre::kMean);
                 const std::vector<double> rstd = statistics.rstd(call.attribute<double>("eps"));
                 normalise(x, grouping, statistics.mean, rstd, load_optional(call, "weight"),
                           load_optional(call, "bias"));
                 store(x, call.output(0));
                 store(statistics.mean, call.output(1));
                 store(rstd, call.output(2));
               })
      .cost(cost_per_element(8))
      .gradient({"native_group_norm_backward"})
      .samples({"f32[2,6,3]; f32[6]; f32[6]; N=2; C=6; HxW=3; group=3; eps=1e-05",
                "f64[5,4]; f64[4]; -; N=5; C=4; HxW=1; group=2; eps=0.1",
                "f64[3,5,2]; -; f64[5]; N=3; C=5; HxW=2; group=5; eps=0.001",
                "f64[2,4,1,3]; -; -; N=2; C=4; HxW=3; group=1; eps=1e-05",
                "bf16[3,4,2]; f32[4]; f32[4]; N=3; C=4; HxW=2; group=2; eps=1e-05"});
}

std::vector<Law> gradient_laws(const Groups& groups) {
  Families bias = {{kLinear, {"grad_out"}}};
  if (groups.batch * groups.spatial == 1) bias.push_back({kIdentity, {"grad_out"}});
  return {{{"grad_out", "input", "mean", "rstd", "weight"},
           {{kLinear, {"grad_out"}}, {kLinear, {"weight"}}}},
          {{"grad_out", "input", "mean", "rstd"},
           {{kLinear, {"grad_out"}}, {kLinear, {"input", "mean"}}, {kLinear, {"rstd"}}}},
          {{"grad_out"}, bias}};
}

void emit_gradient_rules(const Call& call, RuleSink& sink) {
  const Groups groups = groups_of(call);
  LawRules rules(call, sink, gradient_laws(groups));
  rules.add_partials();
  const Placement batch = any_shard(0), sum = partial("sum");
  rules.add_cut({batch, sum, sum},
                {{"grad_out", batch}, {"input", batch}, {"mean", batch}, {"rstd", batch}});
  if (!call.output(0).present()) {
    for (int dim = 2; dim < call.tensor("input").ndim(); ++dim) {
      const Placement area = any_shard(dim);
      rules.add_cut({absent(), sum, sum}, {{"grad_out", area}, {"input", area}});
    }
  }
  if (groups.count() < 2) return;
  const ChannelCut cut = channel_cut(call, groups);
  rules.add_cut({cut.input, cut.parameter, cut.parameter},
                {{"grad_out", cut.input},
                 {"input", cut.input},
                 {"mean", cut.input},
                 {"rstd", cut.input},
                 {"weight", cut.parameter}},
                cut.options);
}

void infer_gradient(const Call& call, OutputSink& outputs) {
  const Groups groups = groups_of(call);
  const std::vector<bool> mask = output_mask(call, 3);
  const TensorView input = call.tensor("input");
  require_shape(call.tensor("grad_out"), input.shape(), "grad_out");
  require(call.tensor("grad_out").dtype() == input.dtype(), "grad_out and input need one dtype");
  for (const char* name : {"mean", "rstd"})
    require_shape(call.tensor(name), Shape{groups.batch, groups.count()}, name);
  check_channels(call, groups, {"weight"});
  const DType parameters = call.tensor(call.has_tensor("weight") ? "weight" : "mean").dtype();
  for (size_t slot = 0; slot < 3; ++slot) {
    if (!mask[slot])
      outputs.add_absent();
    else if (slot == 0)
      outputs.add(input.dtype(), shape_of(input));
    else
      outputs.add(parameters, {groups.channels});
  }
}

void declare_gradient(Registrar& r) {
  r.op("native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, "
       "Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> "
       "(Tensor?, Tensor?, Tensor?)")
      .summary("gradients of native_group_norm: of its input, weight and bias, as the mask wants")
      .position_aware()
      .infer(infer_gradient)
      .rules(emit_gradient_rules)
      .compute(kFloats,
               [](const Call& call, const onedim_execution_t&) {
                 store_gradient(
                     call, differentiate(load(call.tensor("grad_out")), load(call.tensor("input")),
                                         groups_of(call).grouping(), load(call.tensor("mean")),
                                         load(call.tensor("rstd")), load_optional(call, "weight"),
                                         Centre::kMean, From::kOwnElements));
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

}  // namespace

void declare_group_norm(Registrar& r) {
  declare_forward(r);
  declare_gradient(r);
}

}  // namespace nn
