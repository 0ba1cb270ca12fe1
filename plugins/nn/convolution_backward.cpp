// Gradients of a convolution, over the same taps and links:
//   grad_input[n, ci, ti] += g[n, co, to] w[row, k],   grad_weight[row, k] += g[n, co, to] x[n, ci,
//   ti],   grad_bias[co] += g[n, co, to]
// Each is linear in g, and in one more argument. Over a sharded batch the gradients of weight and
// bias are partial: with g f32[4,3,2] and in f32[4,2,4] `S(0), P(sum), P(sum) | S(0), S(0), R`;
// over output channels that of the input is, `P(sum), S(0), S(0) | S(1), R, S(0)`. An output that
// the mask does not want is absent, and what only it reads may be placed anyhow.

#include <onedim/arithmetic.hpp>

#include "convolution.hpp"
#include "laws.hpp"

namespace nn {
namespace {

void infer(const Call& call, OutputSink& outputs) {
  const Convolution c = convolution_of(call);
  const std::vector<bool> mask = output_mask(call, 3);
  const TensorView input = call.tensor("input"), weight = call.tensor("weight");
  const int64_t channels = result_channels(call, c);
  check_channels(call, c);
  Shape shape = {input.size(0), channels};
  for (const int64_t size : result_places(call, c)) shape.push_back(size);
  require_shape(call.tensor("grad_output"), shape, "grad_output");
  require(call.tensor("grad_output").dtype() == input.dtype(),
          "grad_output and input need one dtype");
  if (call.has_attribute("bias_sizes")) {
    const auto sizes = call.attribute<Shape>("bias_sizes");
    require(sizes == Shape{c.outputs} || sizes == Shape{0},
            "bias_sizes must hold the number of output channels");
  }
  const Shape shapes[] = {shape_of(input), shape_of(weight), {channels}};
  for (size_t slot = 0; slot < 3; ++slot) {
    if (mask[slot])
      outputs.add(input.dtype(), shapes[slot]);
    else
      outputs.add_absent();
  }
}

template <typename C>
class Kernel {
 public:
  explicit Kernel(const Call& call)
      : call_(call),
        c_(convolution_of(call)),
        grad_(call.tensor("grad_output")),
        input_(call.tensor("input")),
        weight_(call.tensor("weight")),
        links_(links_of(call, c_)),
        taps_(taps_of(c_, input_.shape().subspan(2), grad_.shape().subspan(2),
                      weight_.shape().subspan(2))),
        g_(load_dense<C>(grad_)) {}

  void run() {
    if (call_.output(0).present()) differentiate_input();
    if (call_.output(1).present()) differentiate_weight();
    if (call_.output(2).present()) differentiate_bias();
  }

 private:
  static int64_t area(const TensorView& tensor) { return product_of(tensor.shape().subspan(2)); }

  void differentiate_input() {
    const std::vector<C> w = load_dense<C>(weight_);
    const int64_t in_area = area(input_), out_area = area(grad_), kernel = area(weight_);
    std::vector<C> result(static_cast<size_t>(input_.element_count()), C(0));
    for_each_term(input_.size(0), links_, taps_, [&](int64_t n, const Link& link, const Tap& tap) {
      C& sum = result[(n * input_.size(1) + link.input) * in_area + tap.input];
      const C& g = g_[(n * grad_.size(1) + link.output) * out_area + tap.output];
      sum = plus(sum, times(g, w[link.weight * kernel + tap.kernel]));
    });
    store_dense(result.data(), call_.output(0));
  }

  void differentiate_weight() {
    const std::vector<C> x = load_dense<C>(input_);
    const int64_t in_area = area(input_), out_area = area(grad_), kernel = area(weight_);
    std::vector<C> result(static_cast<size_t>(weight_.element_count()), C(0));
    for_each_term(input_.size(0), links_, taps_, [&](int64_t n, const Link& link, const Tap& tap) {
      C& sum = result[link.weight * kernel + tap.kernel];
      const C& g = g_[(n * grad_.size(1) + link.output) * out_area + tap.output];
      sum = plus(sum, times(g, x[(n * input_.size(1) + link.input) * in_area + tap.input]));
    });
    store_dense(result.data(), call_.output(1));
  }

  void differentiate_bias() {
    std::vector<C> result(static_cast<size_t>(grad_.size(1)), C(0));
    const auto out_area = static_cast<size_t>(area(grad_));
    for (size_t i = 0; i < g_.size(); ++i) {
      C& sum = result[i / out_area % result.size()];
      sum = plus(sum, g_[i]);
    }
    store_dense(result.data(), call_.output(2));
  }

  const Call& call_;
  Convolution c_;
  TensorView grad_, input_, weight_;
  std::vector<Link> links_;
  std::vector<Tap> taps_;
  std::vector<C> g_;
};

// One product where nothing is added up.
std::vector<Law> laws_of(const Call& call, const Convolution& c) {
  const TensorView grad = call.tensor("grad_output"), input = call.tensor("input");
  const TensorView weight = call.tensor("weight");
  const auto terms = [&](Side side) { return most_taps(c, input, grad, weight, side); };
  Law of_input{{"grad_output", "weight"}, {{kLinear, {"grad_output"}}, {kLinear, {"weight"}}}};
  Law of_weight{{"grad_output", "input"}, {{kLinear, {"grad_output"}}, {kLinear, {"input"}}}};
  Law of_bias{{"grad_output"}, {{kLinear, {"grad_output"}}}};
  if (c.outputs_per_group() * terms(Side::kInput) == 1)
    of_input.families.push_back({kMultiplicative, {"grad_output", "weight"}});
  if (input.size(0) * terms(Side::kKernel) == 1)
    of_weight.families.push_back({kMultiplicative, {"grad_output", "input"}});
  if (grad.element_count() == grad.size(1))
    of_bias.families.push_back({kIdentity, {"grad_output"}});
  return {of_input, of_weight, of_bias};
}

void cut_groups(const Call& call, LawRules& rules, const Convolution& c) {
  if (c.groups == 1) return;
  const int64_t in = c.inputs_per_group(), out = c.outputs_per_group();
  const RuleOptions options = multiples({{0, call.slot("input"), 1, 0, in},
                                         {0, call.slot("weight"), 0, 0, c.transposed ? in : out},
                                         {0, call.slot("grad_output"), 1, 0, out}});
  const auto cut = [&](int dim) { return in == 1 && out == 1 ? any_shard(dim) : shard(dim); };
  rules.add_cut({cut(1), cut(0), cut(0)},
                {{"grad_output", cut(1)}, {"input", cut(1)}, {"weight", cut(0)}}, options);
}

// Input and weight cut where the forward op sums: the bias' gradient does not see it, and alone it
// lets what is linear through.
void cut_operands(const Call& call, LawRules& rules, const Placement& input,
                  const Placement& weight) {
  rules.add_cut({input, weight, replicate()}, {{"input", input}, {"weight", weight}});
  if (call.output(0).present() || call.output(1).present()) return;
  for (const std::string_view kind : {"sum", "avg"}) {
    rules.add_cut({absent(), absent(), partial(kind)},
                  {{"grad_output", partial(kind)}, {"input", input}, {"weight", weight}});
  }
}

void emit_rules(const Call& call, RuleSink& sink) {
  const Convolution c = convolution_of(call);
  LawRules rules(call, sink, laws_of(call, c));
  rules.add_partials();
  const Placement sum = partial("sum");
  const auto cut_places = [&](const Placement& cut, const RuleOptions& options) {
    rules.add_cut({cut, sum, sum}, {{"grad_output", cut}, {"input", cut}}, options);
  };
  cut_places(any_shard(0), {});
  cut_groups(call, rules, c);
  const Placement channel = any_shard(1);
  if (!c.transposed || c.groups == 1) {
    const Placement rows = any_shard(c.weight_output_dim());
    rules.add_cut({sum, rows, any_shard(0)}, {{"grad_output", channel}, {"weight", rows}});
  }
  if (c.groups == 1) {
    const Placement columns = any_shard(c.weight_input_dim());
    cut_operands(call, rules, channel, columns);
  }
  for (int i = 0; i < c.spatial; ++i) {
    const Placement cut = any_shard(i + 2);
    if (!c.is_whole[static_cast<size_t>(i)]) continue;
    if (c.transposed)
      rules.add_cut({sum, cut, sum}, {{"grad_output", cut}, {"weight", cut}});
    else
      cut_operands(call, rules, cut, cut);
  }
  for (const BlockCut& cut : block_cuts(call, c)) {
    const int slot = call.slot(c.transposed ? "grad_output" : "input");
    cut_places(cut.block == 1 ? any_shard(cut.dim) : shard(cut.dim),
               multiples({{0, slot, cut.dim, 0, cut.block}}));
  }
}

}  // namespace

void declare_convolution_gradient(Registrar& r) {
  r.op("convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? "
       "bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, "
       "SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor?, Tensor?, "
       "Tensor?)")
      .summary("gradients of convolution: of its input, weight and bias, as the mask wants")
      .position_aware()  // to know a channel's group
      .infer(infer)
      .rules(emit_rules)
      .compute(kFloats,
               [](const Call& call, const onedim_execution_t&) { Kernel<double>(call).run(); })
      .cost([](const Call& call, onedim_cost_t& cost) {
        elementwise_cost(call, 0, cost);
        const Convolution c = convolution_of(call);
        const double once =
            flops_of(c, call.tensor("input"), call.tensor("weight"), call.tensor("grad_output"));
        for (int slot = 0; slot < 2; ++slot) cost.flops += call.output(slot).present() ? once : 0;
      })
      .samples({"f32[3,4,2]; f32[3,2,3]; f32[4,2,2]; bias_sizes=[4]; stride=[1]; padding=[0]; "
                "dilation=[1]; transposed=false; output_padding=[0]; groups=1; "
                "output_mask=[true,true,true]",
                "f64[2,3,2,2]; f64[2,2,4,3]; f64[3,2,2,2]; bias_sizes=[3]; stride=[2,1]; "
                "padding=[0,0]; dilation=[1,1]; transposed=false; output_padding=[0,0]; groups=1; "
                "output_mask=[false,true,true]",
                "f64[2,4,1]; f64[2,4,2]; f64[4,2,2]; bias_sizes=null; stride=[1]; padding=[0]; "
                "dilation=[1]; transposed=false; output_padding=[0]; groups=2; "
                "output_mask=[true,true,false]",
                "f64[1,3,3]; f64[1,3,3]; f64[3,1,1]; bias_sizes=[3]; stride=[1]; padding=[0]; "
                "dilation=[1]; transposed=false; output_padding=[0]; groups=3; "
                "output_mask=[true,false,true]",
                "f32[2,2,4]; f32[2,3,2]; f32[3,2,2]; bias_sizes=[2]; stride=[2]; padding=[0]; "
                "dilation=[1]; transposed=true; output_padding=[0]; groups=1; "
                "output_mask=[true,true,true]",
                "f64[2,3,3]; f64[2,2,2]; f64[3,2,2]; bias_sizes=[3]; stride=[1]; padding=[1]; "
                "dilation=[1]; transposed=false; output_padding=[0]; groups=1; "
                "output_mask=[false,false,true]"});
}

}  // namespace nn
