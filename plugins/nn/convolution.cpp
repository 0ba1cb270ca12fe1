// Convolution: out[n, co, to] = bias[co] + sum over ci and k of input[n, ci, ti] weight[co, ci, k],
// over the places ti = to * stride - padding + k * dilation that exist. Batch and output channels
// may be cut; cut input channels leave sums, to which the bias must be a sum too. A window reads
// across a cut of a spatial dim, unless each window stays within its own stretch of `stride`
// places. It is linear in input and weight alone; max and min only pass in the bias.
//   input f64[4,2,5], weight f64[6,2,3], bias f64[6], stride 1, one group -> [4,6,3]:
//   S(0) | S(0), R, R;  S(1) | R, S(0), S(0);  P(sum) | S(1), S(1), P(sum);  no S(2) | S(2), R, R

#include "convolution.hpp"

#include <onedim/arithmetic.hpp>

#include "laws.hpp"
#include "spatial.hpp"

namespace nn {
namespace {

// Global index -> local index of one dim, -1 where another rank owns it.
std::vector<int64_t> local_of_global(const Call& call, std::string_view name, int dim) {
  const int slot = call.slot(name);
  std::vector<int64_t> at(static_cast<size_t>(call.global_size(false, slot, dim)), -1);
  for (int64_t i = 0; i < call.input(slot).size(dim); ++i)
    at[static_cast<size_t>(call.global_index(false, slot, dim, i))] = i;
  return at;
}

// Steps to the next place in each dim, row-major.
Shape steps_of(std::span<const int64_t> sizes) {
  Shape steps(sizes.size(), 1);
  for (size_t dim = sizes.size(); dim-- > 1;) steps[dim - 1] = steps[dim] * sizes[dim];
  return steps;
}

// The taps of one dim.
std::vector<Tap> taps_of_dim(int64_t large, int64_t small, int64_t kernel, int64_t stride,
                             int64_t padding, int64_t dilation) {
  std::vector<Tap> taps;
  for (int64_t s = 0; s < small; ++s) {
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t l = s * stride - padding + k * dilation;
      if (l >= 0 && l < large) taps.push_back({l, s, k});
    }
  }
  return taps;
}

}  // namespace

Convolution convolution_of(const Call& call) {
  const TensorView input = call.tensor("input"), weight = call.tensor("weight");
  Convolution c;
  c.spatial = input.ndim() - 2;
  require(c.spatial >= 1 && weight.ndim() == input.ndim(),
          "input and weight need one number of dims, at least three");
  require(input.dtype() == weight.dtype(), "input and weight need one dtype");
  c.transposed = call.attribute<bool>("transposed");
  c.groups = call.attribute<int64_t>("groups");
  c.stride = spatial_list(call, "stride", c.spatial, 1);
  c.padding = spatial_list(call, "padding", c.spatial, 0);
  c.dilation = spatial_list(call, "dilation", c.spatial, 1);
  c.output_padding = spatial_list(call, "output_padding", c.spatial, 0);
  const int in = call.slot("input"), w = call.slot("weight");
  const int64_t rows = call.global_size(false, w, 0), columns = call.global_size(false, w, 1);
  c.inputs = call.global_size(false, in, 1);
  c.outputs = c.transposed ? columns * c.groups : rows;
  const bool fits = c.groups > 0 && c.inputs % c.groups == 0 && c.outputs % c.groups == 0 &&
                    (c.transposed ? rows == c.inputs : columns == c.inputs / c.groups);
  if (!fits)
    fail("a weight of shape " + format_shape(weight.shape()) + " in " + std::to_string(c.groups) +
         " groups does not go with " + std::to_string(c.inputs) + " input channels");
  for (size_t i = 0; i < static_cast<size_t>(c.spatial); ++i) {
    const int dim = static_cast<int>(i) + 2;
    const int64_t kernel = call.global_size(false, w, dim);
    const int64_t size = call.global_size(false, in, dim);
    c.is_whole.push_back(c.padding[i] == 0 && c.dilation[i] == 1 && c.output_padding[i] == 0 &&
                         size == (c.transposed ? 1 : kernel));
    require(c.is_whole[i] || weight.size(dim) == kernel, "the kernel is cut");
  }
  return c;
}

Shape result_places(const Call& call, const Convolution& c) {
  const TensorView input = call.tensor("input"), weight = call.tensor("weight");
  Shape places;
  for (size_t i = 0; i < static_cast<size_t>(c.spatial); ++i) {
    const int dim = static_cast<int>(i) + 2;
    const int64_t size = input.size(dim);
    const bool is_elsewhere =
        size == 0 && weight.size(dim) > 0 && call.global_size(false, call.slot("input"), dim) > 0;
    const int64_t extent = c.dilation[i] * (weight.size(dim) - 1) + 1;
    if (c.transposed) {
      const int64_t places_here =
          (size - 1) * c.stride[i] - 2 * c.padding[i] + extent + c.output_padding[i];
      places.push_back(is_elsewhere ? 0 : places_here);
    } else {
      const int64_t room = size + 2 * c.padding[i] - extent;
      require(room >= 0 || is_elsewhere, "the kernel is larger than the padded input");
      places.push_back(is_elsewhere ? 0 : room / c.stride[i] + 1);
    }
    require(places.back() >= 0, "the result would have a negative size");
  }
  return places;
}

std::vector<Tap> taps_of(const Convolution& c, std::span<const int64_t> input_places,
                         std::span<const int64_t> output_places,
                         std::span<const int64_t> kernel_places) {
  const Shape large = steps_of(c.transposed ? output_places : input_places);
  const Shape small = steps_of(c.transposed ? input_places : output_places);
  const Shape kernel = steps_of(kernel_places);
  std::vector<Tap> taps = {{0, 0, 0}};
  for (size_t i = 0; i < kernel.size(); ++i) {
    const std::vector<Tap> own =
        taps_of_dim(c.transposed ? output_places[i] : input_places[i],
                    c.transposed ? input_places[i] : output_places[i], kernel_places[i],
                    c.stride[i], c.padding[i], c.dilation[i]);
    std::vector<Tap> longer;
    longer.reserve(taps.size() * own.size());
    for (const Tap& tap : taps) {
      for (const Tap& next : own)
        longer.push_back({tap.input + next.input * large[i], tap.output + next.output * small[i],
                          tap.kernel + next.kernel * kernel[i]});
    }
    taps = std::move(longer);
  }
  if (c.transposed) {
    for (Tap& tap : taps) std::swap(tap.input, tap.output);
  }
  return taps;
}

// A rank's part of the weight decides which channels its result has.
int64_t result_channels(const Call& call, const Convolution& c) {
  const TensorView weight = call.tensor("weight");
  if (!c.transposed) return weight.size(0);
  if (c.groups == 1) return weight.size(1);
  const int64_t rows = weight.size(0), group = c.inputs_per_group();
  require(group == 0 || rows % group == 0, "a group is cut");
  require(weight.size(1) == c.outputs_per_group(), "a transposed group's outputs are cut");
  return group == 0 ? c.outputs : rows / group * c.outputs_per_group();
}

namespace {

// The local input channel under a place of the weight, by its global row and column.
class InputChannels {
 public:
  InputChannels(const Call& call, const Convolution& c)
      : c_(c), at_(local_of_global(call, "input", 1)) {}
  int64_t under(int64_t row, int64_t column) const {
    const int64_t group = c_.transposed ? 0 : row / c_.outputs_per_group();
    const int64_t channel = c_.transposed ? row : group * c_.inputs_per_group() + column;
    const int64_t at = at_[static_cast<size_t>(channel)];
    require(at >= 0, "an input channel that the weight needs lies on another rank");
    return at;
  }

 private:
  const Convolution& c_;
  std::vector<int64_t> at_;
};

}  // namespace

void check_channels(const Call& call, const Convolution& c) {
  const TensorView input = call.tensor("input"), weight = call.tensor("weight");
  const int w = call.slot("weight");
  // Columns are missing only where the input's channels are cut as they are, never in one alone.
  const int64_t per_group = c.transposed ? weight.size(0) : weight.size(1);
  const int64_t whole = c.transposed ? c.inputs : c.inputs_per_group();
  const int64_t present = c.transposed ? per_group : per_group * c.groups;
  require(per_group == whole || input.size(1) == present,
          "input and weight have different parts of the input channels");
  const InputChannels channels(call, c);
  int64_t checked = -1;  // the rows of a group need the same channels
  for (int64_t row = 0; row < weight.size(0); ++row) {
    const int64_t global = call.global_index(false, w, 0, row);
    const int64_t group = c.transposed ? global : global / c.outputs_per_group();
    if (group == checked) continue;
    checked = group;
    for (int64_t column = 0; column < (c.transposed ? 1 : per_group); ++column)
      channels.under(global, c.transposed ? 0 : call.global_index(false, w, 1, column));
  }
}

std::vector<Link> links_of(const Call& call, const Convolution& c) {
  const TensorView weight = call.tensor("weight");
  const int w = call.slot("weight");
  const InputChannels channels(call, c);
  std::vector<int64_t> global_columns;
  const int64_t columns = weight.size(1);
  for (int64_t column = 0; column < columns; ++column)
    global_columns.push_back(call.global_index(false, w, 1, column));
  const int64_t group_rows = c.groups == 1 ? c.inputs : c.inputs_per_group();
  std::vector<Link> links;
  for (int64_t row = 0; row < weight.size(0); ++row) {
    const int64_t global_row = call.global_index(false, w, 0, row);
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t out = c.transposed ? row / group_rows * columns + column : row;
      const int64_t in = channels.under(global_row, global_columns[static_cast<size_t>(column)]);
      links.push_back({in, out, row * columns + column});
    }
  }
  return links;
}

int64_t most_taps(const Convolution& c, const TensorView& input, const TensorView& result,
                  const TensorView& kernel, Side side) {
  int64_t product = 1;
  for (size_t i = 0; i < static_cast<size_t>(c.spatial); ++i) {
    const int dim = static_cast<int>(i) + 2;
    const TensorView &large = c.transposed ? result : input, &small = c.transposed ? input : result;
    std::vector<int64_t> counts(
        static_cast<size_t>(std::max({large.size(dim), small.size(dim), kernel.size(dim)})), 0);
    int64_t most = 0;
    for (const Tap& tap : taps_of_dim(large.size(dim), small.size(dim), kernel.size(dim),
                                      c.stride[i], c.padding[i], c.dilation[i])) {
      const int64_t at = side == Side::kKernel                    ? tap.kernel
                         : (side == Side::kInput) != c.transposed ? tap.input
                                                                  : tap.output;
      most = std::max(most, ++counts[static_cast<size_t>(at)]);
    }
    product *= most;
  }
  return product;
}

std::vector<BlockCut> block_cuts(const Call& call, const Convolution& c) {
  const TensorView input = call.tensor("input"), weight = call.tensor("weight");
  std::vector<BlockCut> cuts;
  for (size_t i = 0; i < static_cast<size_t>(c.spatial); ++i) {
    const int dim = static_cast<int>(i) + 2;
    const int64_t extent = c.dilation[i] * (weight.size(dim) - 1) + 1;
    const bool is_inside = extent <= c.stride[i] && c.padding[i] == 0;
    const bool fills = c.transposed ? c.output_padding[i] == c.stride[i] - extent
                                    : input.size(dim) % c.stride[i] == 0;
    if (is_inside && fills) cuts.push_back({dim, c.stride[i]});
  }
  return cuts;
}

double flops_of(const Convolution& c, const TensorView& input, const TensorView& weight,
                const TensorView& result) {
  const TensorView& small = c.transposed ? input : result;
  const int64_t places = small.size(0) * product_of(small.shape().subspan(2));
  return 2.0 * static_cast<double>(places) * static_cast<double>(weight.element_count());
}

RuleOptions multiples(std::vector<onedim_requirement_t> list) {
  std::erase_if(list, [](const onedim_requirement_t& r) { return r.multiple <= 1; });
  RuleOptions options;
  options.requirements = std::move(list);
  return options;
}

namespace {

template <typename C>
void convolve(const Call& call) {
  const Convolution c = convolution_of(call);
  const TensorView input = call.tensor("input"), weight = call.tensor("weight");
  const TensorView out = call.output();
  const std::vector<Tap> taps =
      taps_of(c, input.shape().subspan(2), out.shape().subspan(2), weight.shape().subspan(2));
  const int64_t in_area = product_of(input.shape().subspan(2));
  const int64_t out_area = product_of(out.shape().subspan(2));
  const int64_t kernel = product_of(weight.shape().subspan(2));
  const std::vector<C> x = load_dense<C>(input), w = load_dense<C>(weight);
  std::vector<C> result(static_cast<size_t>(out.element_count()), C(0));
  if (call.has_tensor("bias")) {
    const std::vector<C> bias = load_dense<C>(call.tensor("bias"));
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = bias[i / static_cast<size_t>(out_area) % bias.size()];
  }
  for_each_term(input.size(0), links_of(call, c), taps,
                [&](int64_t n, const Link& link, const Tap& tap) {
                  const C& value = x[(n * input.size(1) + link.input) * in_area + tap.input];
                  C& sum = result[(n * out.size(1) + link.output) * out_area + tap.output];
                  sum = plus(sum, times(value, w[link.weight * kernel + tap.kernel]));
                });
  store_dense(result.data(), out);
}

void infer(const Call& call, OutputSink& outputs) {
  const Convolution c = convolution_of(call);
  const TensorView input = call.tensor("input");
  const int64_t channels = result_channels(call, c);
  check_channels(call, c);
  Shape shape = {input.size(0), channels};
  for (const int64_t size : result_places(call, c)) shape.push_back(size);
  if (call.has_tensor("bias")) {
    require_shape(call.tensor("bias"), Shape{channels}, "bias");
    require(call.tensor("bias").dtype() == input.dtype(), "input and bias need one dtype");
  }
  outputs.add(input.dtype(), shape);
}

Law forward_law(const Call& call, const Convolution& c) {
  const bool has_bias = call.has_tensor("bias");
  Law law{{"input", "weight", "bias"},
          {{kLinear, {"input", "bias"}}, {kLinear, {"weight", "bias"}}}};
  if (has_bias) {
    law.families.push_back({kAffine, {"bias"}});
    if (!is_complex(call.output().dtype())) law.families.push_back({kIncreasing, {"bias"}});
  } else if (c.inputs_per_group() * most_taps(c, call.tensor("input"), call.output(),
                                              call.tensor("weight"), Side::kOutput) ==
             1) {
    law.families.push_back({kMultiplicative, {"input", "weight"}});
  }
  return law;
}

// Whole groups on every rank.
void cut_groups(const Call& call, LawRules& rules, const Convolution& c) {
  if (c.groups == 1) return;
  const int64_t in = c.inputs_per_group(), out = c.outputs_per_group();
  const RuleOptions options = multiples({{0, call.slot("input"), 1, 0, in},
                                         {0, call.slot("weight"), 0, 0, c.transposed ? in : out},
                                         {1, 0, 1, 0, out}});
  const auto cut = [&](int dim) { return in == 1 && out == 1 ? any_shard(dim) : shard(dim); };
  rules.add_cut({cut(1)}, {{"input", cut(1)}, {"weight", cut(0)}, {"bias", cut(0)}}, options);
}

void emit_rules(const Call& call, RuleSink& sink) {
  const Convolution c = convolution_of(call);
  LawRules rules(call, sink, {forward_law(call, c)});
  rules.add_partials();
  rules.add_cut({any_shard(0)}, {{"input", any_shard(0)}});
  cut_groups(call, rules, c);
  if (!c.transposed || c.groups == 1) {
    rules.add_cut({any_shard(1)},
                  {{"weight", any_shard(c.weight_output_dim())}, {"bias", any_shard(0)}});
  }
  if (c.groups == 1) {
    rules.add_cut({partial("sum")}, {{"input", any_shard(1)},
                                     {"weight", any_shard(c.weight_input_dim())},
                                     {"bias", partial("sum")}});
  }
  for (int i = 0; i < c.spatial; ++i) {
    const Placement cut = any_shard(i + 2);
    if (!c.is_whole[static_cast<size_t>(i)]) continue;
    if (c.transposed)
      rules.add_cut({cut}, {{"weight", cut}});
    else
      rules.add_cut({partial("sum")}, {{"input", cut}, {"weight", cut}, {"bias", partial("sum")}});
  }
  for (const BlockCut& cut : block_cuts(call, c)) {
    const Placement placement = cut.block == 1 ? any_shard(cut.dim) : shard(cut.dim);
    rules.add_cut({placement}, {{"input", placement}},
                  multiples({{c.transposed, 0, cut.dim, 0, cut.block}}));
  }
}

}  // namespace

void declare_convolution(Registrar& r) {
  declare_convolution_gradient(r);
  r.op("convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
       "padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> "
       "Tensor")
      .summary("convolution or its transpose over any number of spatial dims")
      .position_aware()  // to know a channel's group
      .infer(infer)
      .rules(emit_rules)
      .compute(
          kConvolvable,
          [](const Call& call, const onedim_execution_t&) {
            with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
                call.output().dtype(), [&]<typename C>(C) { convolve<Accumulator<C>>(call); });
          })
      .cost([](const Call& call, onedim_cost_t& cost) {
        elementwise_cost(call, 0, cost);
        const Convolution c = convolution_of(call);
        cost.flops = flops_of(c, call.tensor("input"), call.tensor("weight"), call.output());
      })
      .gradient({"convolution_backward"})
      .samples({"f32[2,3,5]; f32[4,3,3]; f32[4]; stride=[2]; padding=[1]; dilation=[1]; "
                "transposed=false; output_padding=[0]; groups=1",
                "f64[3,2,4,3]; f64[3,2,2,1]; -; stride=[1,1]; padding=[0,0]; dilation=[2,1]; "
                "transposed=false; output_padding=[0,0]; groups=1",
                "f64[2,4,3]; f64[6,2,2]; f64[6]; stride=[1]; padding=[0]; dilation=[1]; "
                "transposed=false; output_padding=[0]; groups=2",
                "f64[2,5,4]; f64[5,1,1]; -; stride=[1]; padding=[0]; dilation=[1]; "
                "transposed=false; output_padding=[0]; groups=5",
                "f64[2,2,6]; f64[3,2,2]; f64[3]; stride=[2]; padding=[0]; dilation=[1]; "
                "transposed=false; output_padding=[0]; groups=1",
                "f32[2,3,4]; f32[3,2,3]; f32[2]; stride=[2]; padding=[1]; dilation=[1]; "
                "transposed=true; output_padding=[1]; groups=1",
                "f64[1,4,3]; f64[4,2,2]; -; stride=[2]; padding=[0]; dilation=[1]; "
                "transposed=true; output_padding=[0]; groups=2",
                "i64[2,3,3]; i64[2,3,2]; i64[2]; stride=[1]; padding=[0]; dilation=[1]; "
                "transposed=false; output_padding=[0]; groups=1",
                "c64[1,2,3]; c64[2,2,2]; c64[2]; stride=[1]; padding=[1]; dilation=[1]; "
                "transposed=false; output_padding=[0]; groups=1",
                "bf16[1,2,1,2,2]; bf16[3,2,1,1,2]; -; stride=[1]; padding=[0]; dilation=[1]; "
                "transposed=false; output_padding=[0]; groups=1"});
}

}  // namespace nn
