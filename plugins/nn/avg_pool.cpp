// Mean pooling: each result is the mean of a window of places, by windows of one size or (adaptive)
// by as many windows as results are wanted, [floor(o L / O), ceil((o + 1) L / O)). Windows are
// products of one window a dim, so sums resample dim by dim (resample.hpp), and are divided last.
//   avg_pool2d of f32[2,3,4,4], kernel 2: f32[2,3,2,2], `S(0) | S(0)`, `P(sum) | S(2)`,
//   `S(2) | R`, and `S(2) | S(2)` where every rank has whole windows.
// The divisor is the window's size, with the padding or without, or a given number.

#include "resample.hpp"
#include "spatial.hpp"

namespace nn {
namespace {

// One window: places [begin, end) and what their sum is divided by.
struct Span {
  int64_t begin, end, divisor;
};

template <typename F>
void add_dim(Resampling& pooling, int64_t size, int64_t count, F&& window) {
  Map map{count, size, {}};
  std::vector<int64_t> divisors;
  for (int64_t o = 0; o < count; ++o) {
    const Span span = window(o);
    for (int64_t i = span.begin; i < span.end; ++i) map.entries.push_back({o, i, 1});
    divisors.push_back(std::max<int64_t>(1, span.divisor));
  }
  pooling.maps.push_back(std::move(map));
  pooling.divisors.push_back(std::move(divisors));
}

// Global sizes of self's spatial dims.
std::vector<int64_t> places_of(const Call& call, int count) {
  const int slot = call.slot("self");
  check_pooled(call, slot, count);
  std::vector<int64_t> sizes;
  for (int dim = call.input(slot).ndim() - count; dim < call.input(slot).ndim(); ++dim)
    sizes.push_back(call.global_size(false, slot, dim));
  return sizes;
}

ResamplingFn fixed(int count) {
  return [count](const Call& call) {
    Resampling pooling;
    const Window window = window_of(call, count);
    const std::vector<int64_t> sizes = places_of(call, count);
    const bool counts_padding = call.attribute<bool>("count_include_pad");
    if (call.find_attribute("divisor_override") != nullptr)
      pooling.divisor = call.attribute<std::optional<int64_t>>("divisor_override");
    require(pooling.divisor != 0, "divisor_override must not be 0");
    for (size_t i = 0; i < sizes.size(); ++i) {
      add_dim(pooling, sizes[i], window.places(i, sizes[i]), [&](int64_t o) {
        const int64_t begin = o * window.stride[i] - window.padding[i];
        const int64_t end = std::min(begin + window.kernel[i], sizes[i] + window.padding[i]);
        const int64_t first = std::max<int64_t>(begin, 0), last = std::min(end, sizes[i]);
        return Span{first, last, counts_padding ? end - begin : last - first};
      });
    }
    return pooling;
  };
}

Resampling adaptive_windows(const Call& call, std::span<const int64_t> counts) {
  Resampling pooling;
  const std::vector<int64_t> sizes = places_of(call, static_cast<int>(counts.size()));
  for (size_t i = 0; i < sizes.size(); ++i) {
    add_dim(pooling, sizes[i], counts[i], [&](int64_t o) {
      const int64_t begin = o * sizes[i] / counts[i];
      const int64_t end = ((o + 1) * sizes[i] + counts[i] - 1) / counts[i];
      return Span{begin, end, end - begin};
    });
  }
  return pooling;
}

ResamplingFn adaptive(int count) {
  return [count](const Call& call) {
    return adaptive_windows(call, spatial_list(call, "output_size", count, 0));
  };
}

ResamplingFn fixed_gradient(int count) {
  return [count](const Call& call) { return fixed(count)(call).gradient("self"); };
}
// The gradient's sizes tell how many windows there were.
ResamplingFn adaptive_gradient(int count) {
  return [count](const Call& call) {
    const int slot = call.slot("grad_output"), ndim = call.input(slot).ndim();
    require(ndim >= count, "grad_output has too few dims");
    std::vector<int64_t> counts;
    for (int dim = ndim - count; dim < ndim; ++dim)
      counts.push_back(call.global_size(false, slot, dim));
    return adaptive_windows(call, counts).gradient("self");
  };
}

OpBuilder& declare_forward(Registrar& r, std::string_view schema, const ResamplingFn& fn) {
  return declare_resampling(r, schema, fn, dtype_bit(DType::kI64));
}
OpBuilder& declare_gradient(Registrar& r, std::string_view schema, const ResamplingFn& fn) {
  return declare_resampling(r, schema, fn);
}

void declare_fixed(Registrar& r) {
  declare_forward(r,
                  "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
                  "padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
                  fixed(1))
      .summary("means of windows over one spatial dim")
      .samples({"f32[2,3,5]; kernel_size=[3]; stride=[2]; padding=[1]",
                "f64[3,2,4]; kernel_size=[2]", "f64[5,4]; kernel_size=[2]; stride=[1]",
                "f64[2,3,4]; kernel_size=[1]; stride=[1]",
                "bf16[2,2,5]; kernel_size=[2]; padding=[1]; ceil_mode=true; "
                "count_include_pad=false",
                "f64[2,2,6]; kernel_size=[1]; stride=[2]"});
  declare_forward(r,
                  "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
                  "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) "
                  "-> Tensor",
                  fixed(2))
      .summary("means of windows over two spatial dims")
      .gradient({"avg_pool2d_backward"})
      .samples({"f32[2,3,5,3]; kernel_size=[3,2]; stride=[2,1]; padding=[1,0]",
                "f64[3,2,4,2]; kernel_size=[2,1]", "f64[5,4,4]; kernel_size=[2,2]; stride=[1,2]",
                "f64[2,3,2,2]; kernel_size=[1,1]; divisor_override=-2",
                "i64[2,2,3,4]; kernel_size=[2,2]; padding=[1,1]; ceil_mode=true",
                "i64[1,2,4,2]; kernel_size=[2,1]; divisor_override=1",
                "i64[2,3,2]; kernel_size=[1,1]; divisor_override=3"});
  declare_forward(r,
                  "avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
                  "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) "
                  "-> Tensor",
                  fixed(3))
      .summary("means of windows over three spatial dims")
      .gradient({"avg_pool3d_backward"})
      .samples({"f32[2,3,3,1,2]; kernel_size=[2,1,2]; stride=[1,1,1]",
                "f64[3,2,4,1,1]; kernel_size=[2,1,1]", "f64[5,2,2,3]; kernel_size=[2,1,2]",
                "f64[1,2,2,2,2]; kernel_size=[2,2,2]; divisor_override=3",
                "bf16[2,1,3,2,2]; kernel_size=[2,2,2]; padding=[1,0,1]; count_include_pad=false"});
}

void declare_fixed_gradients(Registrar& r) {
  declare_gradient(r,
                   "avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
                   "int[2] stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? "
                   "divisor_override) -> Tensor",
                   fixed_gradient(2))
      .summary("gradient of avg_pool2d")
      .samples({"f32[2,3,3,2]; f32[2,3,5,3]; kernel_size=[3,2]; stride=[2,1]; padding=[1,0]; "
                "ceil_mode=false; count_include_pad=true; divisor_override=null",
                "f64[3,2,2,2]; f64[3,2,4,2]; kernel_size=[2,1]; stride=[2,1]; padding=[0,0]; "
                "ceil_mode=false; count_include_pad=true; divisor_override=null",
                "f64[5,3,2]; f64[5,4,4]; kernel_size=[2,2]; stride=[1,2]; padding=[0,0]; "
                "ceil_mode=false; count_include_pad=false; divisor_override=null",
                "f64[2,2,2,1]; f64[2,2,2,1]; kernel_size=[1,1]; stride=[]; padding=[0,0]; "
                "ceil_mode=false; count_include_pad=true; divisor_override=-2",
                "bf16[2,3,2]; bf16[2,3,2]; kernel_size=[1,1]; stride=[1,1]; padding=[0,0]; "
                "ceil_mode=false; count_include_pad=true; divisor_override=null"});
  declare_gradient(r,
                   "avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, "
                   "int[3] stride, int[3] padding, bool ceil_mode, bool count_include_pad, int? "
                   "divisor_override) -> Tensor",
                   fixed_gradient(3))
      .summary("gradient of avg_pool3d")
      .samples({"f32[2,3,2,1,1]; f32[2,3,3,1,2]; kernel_size=[2,1,2]; stride=[1,1,1]; padding=0; "
                "ceil_mode=false; count_include_pad=true; divisor_override=null",
                "f64[3,2,2,1,1]; f64[3,2,4,1,1]; kernel_size=[2,1,1]; stride=[]; padding=0; "
                "ceil_mode=false; count_include_pad=true; divisor_override=null",
                "f64[5,1,2,1]; f64[5,2,2,3]; kernel_size=[2,1,2]; stride=[]; padding=0; "
                "ceil_mode=false; count_include_pad=true; divisor_override=null",
                "f64[1,2,1,1,1]; f64[1,2,2,2,2]; kernel_size=[2,2,2]; stride=[]; padding=0; "
                "ceil_mode=false; count_include_pad=true; divisor_override=3",
                "bf16[2,1,2,1,2]; bf16[2,1,3,2,2]; kernel_size=[2,2,2]; stride=[]; "
                "padding=[1,0,1]; ceil_mode=false; count_include_pad=false; "
                "divisor_override=null"});
}

void declare_adaptive(Registrar& r) {
  declare_forward(r, "adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", adaptive(1))
      .summary("means of a given number of windows over one spatial dim")
      .samples({"f32[2,3,5]; output_size=[3]", "f64[3,2,4]; output_size=[1]",
                "f64[5,4]; output_size=[4]", "f64[2,3,2]; output_size=[4]",
                "bf16[2,2,5]; output_size=[2]"});
  declare_forward(r, "_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
                  adaptive(2))
      .summary("means of a given number of windows over two spatial dims")
      .gradient({"_adaptive_avg_pool2d_backward"})
      .samples({"f32[2,3,5,3]; output_size=[3,2]", "f64[3,2,4,1]; output_size=[1,1]",
                "f64[5,4,2]; output_size=[4,2]", "f64[2,3,2,1]; output_size=[4,3]",
                "bf16[2,2,3,3]; output_size=[2,2]"});
  declare_forward(r, "_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor",
                  adaptive(3))
      .summary("means of a given number of windows over three spatial dims")
      .gradient({"_adaptive_avg_pool3d_backward"})
      .samples({"f32[2,3,3,1,2]; output_size=[2,1,1]", "f64[3,2,4,1,1]; output_size=[1,1,1]",
                "f64[5,2,1,2]; output_size=[2,1,2]", "f64[2,3,1,1,2]; output_size=[2,3,2]",
                "bf16[2,2,1,3,3]; output_size=[1,2,2]"});
  declare_gradient(r, "_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor",
                   adaptive_gradient(2))
      .summary("gradient of _adaptive_avg_pool2d")
      .samples({"f32[2,3,1]; f32[2,5,1]", "f64[3,2,1,1]; f64[3,2,4,1]", "f64[5,4,1]; f64[5,4,1]",
                "f64[2,4,3]; f64[2,2,1]", "bf16[1,2,2,2]; bf16[1,2,3,3]"});
  declare_gradient(r, "_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor",
                   adaptive_gradient(3))
      .summary("gradient of _adaptive_avg_pool3d")
      .samples({"f32[2,2,1,1]; f32[2,3,1,1]", "f64[3,2,1,1,1]; f64[3,2,4,1,1]",
                "f64[5,2,1,1]; f64[5,2,1,1]", "f64[2,2,3,1]; f64[2,1,1,1]",
                "bf16[1,2,1,2,2]; bf16[1,2,1,3,3]"});
}

}  // namespace

void declare_avg_pool(Registrar& r) {
  declare_fixed(r);
  declare_fixed_gradients(r);
  declare_adaptive(r);
}

}  // namespace nn
