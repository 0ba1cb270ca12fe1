#pragma once
// Convolution as a sum over two kinds of pairs, shared by the forward op and its gradient.
//   taps   which spatial places meet under which kernel element: place s of the smaller side and
//          place s * stride - padding + k * dilation of the larger one, wherever that exists
//   links  which channels meet under which row of the weight
// A plain convolution goes from the larger side to the smaller, a transposed one back, so
//   out[n, co, to] += in[n, ci, ti] w[row, k],   and the gradients permute the three.
// Worked example: in f32[1,1,5], w f32[1,1,3], stride 2: places 0 and 1 of the result meet places
// {0,1,2} and {2,3,4} of the input, six taps, one link.
// With groups, output channel o reads the input channels of group o / (Cout / groups) alone.

#include "families.hpp"

namespace nn {

// Attributes and local sizes of a call; `input` names the argument that is convolved.
struct Convolution {
  int spatial = 0;  // dims
  std::vector<int64_t> stride, padding, dilation, output_padding;
  bool transposed = false;
  int64_t groups = 1;
  int64_t inputs = 0, outputs = 0;  // channels of the global tensors
  // Where the smaller side has one place and the larger is as long as the kernel: such a dim is
  // summed over, and may be cut like the channels.
  std::vector<bool> is_whole;

  int64_t inputs_per_group() const { return inputs / groups; }
  int64_t outputs_per_group() const { return outputs / groups; }
  // Input channels lie on this dim of the weight.
  int weight_input_dim() const { return transposed ? 0 : 1; }
  int weight_output_dim() const { return transposed ? 1 : 0; }
};
Convolution convolution_of(const Call& call);

// Spatial sizes of the result.
Shape result_places(const Call& call, const Convolution& c);

struct Tap {
  int64_t input, output, kernel;  // linear places
};
std::vector<Tap> taps_of(const Convolution& c, std::span<const int64_t> input_places,
                         std::span<const int64_t> output_places,
                         std::span<const int64_t> kernel_places);

struct Link {
  int64_t input, output, weight;  // local channels, and the row of the weight
};
// Fails where an input channel that a row of the weight needs lies on another rank.
void check_channels(const Call& call, const Convolution& c);
std::vector<Link> links_of(const Call& call, const Convolution& c);
// Channels of the local result.
int64_t result_channels(const Call& call, const Convolution& c);

// How many taps one place of a side has at most: 1 where nothing is summed over places.
enum class Side { kInput, kOutput, kKernel };
int64_t most_taps(const Convolution& c, const TensorView& input, const TensorView& result,
                  const TensorView& kernel, Side side);
double flops_of(const Convolution& c, const TensorView& input, const TensorView& weight,
                const TensorView& result);

// Spatial dims that can be cut: window i covers input places inside [i * block, (i + 1) * block),
// so whole blocks stay on a rank (transposed: outputs of place i fill such a block).
struct BlockCut {
  int dim = 0;        // of input and result
  int64_t block = 1;  // length on the larger side
};
std::vector<BlockCut> block_cuts(const Call& call, const Convolution& c);
// Requirements, those of 1 left out.
RuleOptions multiples(std::vector<onedim_requirement_t> list);

// Calls f(channels of one batch element...) for every batch element, link and tap.
template <typename F>
void for_each_term(int64_t batch, const std::vector<Link>& links, const std::vector<Tap>& taps,
                   F&& f) {
  for (int64_t n = 0; n < batch; ++n) {
    for (const Link& link : links) {
      for (const Tap& tap : taps) f(n, link, tap);
    }
  }
}

// Element types: f64 for floats, integers modulo 2^64, complex.
inline constexpr uint64_t kConvolvable =
    kFloats | kIntegerDTypes | dtype_bit(DType::kC64) | dtype_bit(DType::kC128);

void declare_convolution_gradient(Registrar& r);

}  // namespace nn
