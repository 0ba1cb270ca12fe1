// Max pooling: each result is the largest place of its window, NaN before all, the first of equals,
// beside that place's index in the channel's plane, row-major. The gradient adds g up at the
// indices, and unpooling puts values there, the last of those that name one place.
//   max_pool2d_with_indices of f32[2,3,4,4], kernel 2: f32[2,3,2,2] and i64[2,3,2,2],
//   `S(0), S(0) | S(0)`; `S(2), S(2) | S(2)` where every rank has whole windows, as indices are
//   those of the global plane.

#include <cmath>
#include <numeric>

#include "laws.hpp"
#include "spatial.hpp"

namespace nn {
namespace {

// The places [begin, end) of a window in steps of `step`, dim by dim, by local indices.
struct Reach {
  int64_t begin, end, step;
};
using Reaches = std::vector<std::vector<Reach>>;  // a dim, a result

int leading_of(const TensorView& tensor, int count) { return tensor.ndim() - count; }

// Local index -> global index in the plane, for one dim.
std::vector<int64_t> global_places(const Call& call, std::string_view name, int dim) {
  const int slot = call.slot(name);
  std::vector<int64_t> at;
  for (int64_t i = 0; i < call.input(slot).size(dim); ++i)
    at.push_back(call.global_index(false, slot, dim, i));
  return at;
}

// A walk over row-major indices of `sizes`: f(index, linear).
template <typename F>
void for_each_place(const Shape& sizes, F&& f) {
  Shape index(sizes.size(), 0);
  for (int64_t linear = 0; linear < product_of(sizes); ++linear) {
    f(index, linear);
    for (size_t dim = sizes.size(); dim-- > 0 && ++index[dim] == sizes[dim];) index[dim] = 0;
  }
}

// One plane of self and how to name its places.
struct Plane {
  Shape sizes;                               // local
  Shape global;                              // sizes
  std::vector<std::vector<int64_t>> places;  // local -> global, dim by dim

  int64_t name(const Shape& index) const {
    int64_t named = 0;
    for (size_t dim = 0; dim < index.size(); ++dim)
      named = named * global[dim] + places[dim][static_cast<size_t>(index[dim])];
    return named;
  }
};

Plane plane_of(const Call& call, std::string_view name, int count) {
  Plane plane;
  const int slot = call.slot(name);
  for (int i = 0; i < count; ++i) {
    const int dim = leading_of(call.input(slot), count) + i;
    plane.sizes.push_back(call.input(slot).size(dim));
    plane.global.push_back(call.global_size(false, slot, dim));
    plane.places.push_back(global_places(call, name, dim));
  }
  return plane;
}

template <typename C>
bool is_above(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return a > b;
}

// The best place of one window, by local index; the window is not empty.
template <typename C>
Shape best_of(const C* values, const Plane& plane, const std::vector<Reach>& window) {
  Shape counts, best;
  for (const Reach& reach : window)
    counts.push_back((reach.end - reach.begin + reach.step - 1) / reach.step);
  C top{};
  for_each_place(counts, [&](const Shape& at, int64_t) {
    Shape index;
    int64_t linear = 0;
    for (size_t dim = 0; dim < at.size(); ++dim) {
      index.push_back(window[dim].begin + at[dim] * window[dim].step);
      linear = linear * plane.sizes[dim] + index[dim];
    }
    if (!best.empty() && !is_above(values[linear], top)) return;
    top = values[linear];
    best = index;
  });
  require(!best.empty(), "a window holds no place of the input");
  return best;
}

template <typename C>
void pool(const Call& call, const Reaches& reaches) {
  const TensorView self = call.tensor("self"), out = call.output(0);
  const int count = static_cast<int>(reaches.size());
  const Plane plane = plane_of(call, "self", count);
  const std::vector<C> values = load_dense<C>(self);
  Shape windows;
  for (const std::vector<Reach>& dim : reaches) windows.push_back(static_cast<int64_t>(dim.size()));
  std::vector<C> tops;
  std::vector<int64_t> indices;
  const int64_t area = product_of(plane.sizes);
  const int64_t channels = area == 0 ? 0 : static_cast<int64_t>(values.size()) / area;
  for (int64_t channel = 0; channel < channels; ++channel) {
    const C* own = values.data() + channel * area;
    for_each_place(windows, [&](const Shape& at, int64_t) {
      std::vector<Reach> window;
      for (size_t dim = 0; dim < at.size(); ++dim)
        window.push_back(reaches[dim][static_cast<size_t>(at[dim])]);
      const Shape best = best_of(own, plane, window);
      int64_t linear = 0;
      for (size_t dim = 0; dim < best.size(); ++dim) linear = linear * plane.sizes[dim] + best[dim];
      tops.push_back(own[linear]);
      indices.push_back(plane.name(best));
    });
  }
  store_dense(tops.data(), out);
  store_dense(indices.data(), call.output(1));
}

using ReachesFn = std::function<Reaches(const Call&)>;

// The windows of this rank's places: a cut leaves whole blocks, or nothing.
ReachesFn fixed(int count) {
  return [count](const Call& call) {
    const Window window = window_of(call, count);
    const int slot = call.slot("self");
    check_pooled(call, slot, count);
    Reaches reaches;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const int dim = leading_of(call.input(slot), count) + static_cast<int>(i);
      const int64_t size = call.input(slot).size(dim);
      const bool is_elsewhere = size == 0 && call.global_size(false, slot, dim) > 0;
      std::vector<Reach>& own = reaches.emplace_back();
      for (int64_t o = 0; o < (is_elsewhere ? 0 : window.places(i, size)); ++o) {
        const int64_t start = o * window.stride[i] - window.padding[i], step = window.dilation[i];
        const int64_t begin = start < 0 ? start + (step - 1 - start) / step * step : start;
        own.push_back({begin, std::min(start + window.extent(i), size), step});
      }
    }
    return reaches;
  };
}

ReachesFn adaptive(int count) {
  return [count](const Call& call) {
    const std::vector<int64_t> counts = spatial_list(call, "output_size", count, 0);
    const int slot = call.slot("self");
    check_pooled(call, slot, count);
    Reaches reaches;
    for (size_t i = 0; i < counts.size(); ++i) {
      const int dim = leading_of(call.input(slot), count) + static_cast<int>(i);
      const int64_t size = call.input(slot).size(dim);
      require(size == call.global_size(false, slot, dim), "a spatial dim is cut");
      std::vector<Reach>& own = reaches.emplace_back();
      for (int64_t o = 0; o < counts[i]; ++o)
        own.push_back({o * size / counts[i], ((o + 1) * size + counts[i] - 1) / counts[i], 1});
    }
    return reaches;
  };
}

std::vector<Placement> for_all(const Call& call, const Placement& placement) {
  return std::vector<Placement>(static_cast<size_t>(call.output_count()), placement);
}

// Batch and channels cut alike in all tensors.
void cut_leading(const Call& call, LawRules& rules, int leading,
                 std::initializer_list<std::string_view> names) {
  for (int dim = 0; dim < leading; ++dim) {
    std::vector<RuleSink::Named> inputs;
    for (const std::string_view name : names) inputs.emplace_back(name, any_shard(dim));
    rules.add_cut(for_all(call, any_shard(dim)), inputs);
  }
}

// Spatial dims whose windows lie inside blocks of one stride each.
void cut_blocks(const Call& call, LawRules& rules, int count) {
  const Window window = window_of(call, count);
  const TensorView self = call.tensor("self");
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const int dim = leading_of(self, count) + static_cast<int>(i);
    const int64_t block = window.stride[i];
    const bool is_inside = window.padding[i] == 0 && window.extent(i) <= block;
    if (!is_inside || self.size(dim) % block != 0) continue;
    const Placement cut = block == 1 ? any_shard(dim) : shard(dim);
    RuleOptions options;
    if (block > 1) options.requirements = {{0, call.slot("self"), dim, 0, block}};
    rules.add_cut(for_all(call, cut), {{"self", cut}}, options);
  }
}

OpBuilder& declare_forward(Registrar& r, std::string_view schema, int count,
                           const ReachesFn& reaches_of, bool has_blocks) {
  return r.op(schema)
      .position_aware()  // indices are those of the global plane
      .infer([reaches_of](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self");
        const Reaches reaches = reaches_of(call);
        Shape shape = shape_of(self);
        shape.resize(shape.size() - reaches.size());
        for (const std::vector<Reach>& dim : reaches)
          shape.push_back(static_cast<int64_t>(dim.size()));
        outputs.add(self.dtype(), shape);
        outputs.add(DType::kI64, shape);
      })
      .rules([count, has_blocks](const Call& call, RuleSink& sink) {
        LawRules rules(call, sink, {{{"self"}, {}}, {{"self"}, {}}});
        cut_leading(call, rules, leading_of(call.tensor("self"), count), {"self"});
        if (has_blocks) cut_blocks(call, rules, count);
      })
      .compute(kFloats | kIntegerDTypes,
               [reaches_of](const Call& call, const onedim_execution_t&) {
                 with_compute_type<float, double, int64_t>(
                     call.tensor("self").dtype(),
                     [&]<typename C>(C) { pool<C>(call, reaches_of(call)); });
               })
      .cost(cost_per_element(1));
}

// Where a named place of the global plane lies in this rank's part.
class Finder {
 public:
  explicit Finder(const Plane& plane) : plane_(plane) {
    for (size_t dim = 0; dim < plane.sizes.size(); ++dim) {
      std::vector<int64_t>& at = at_.emplace_back(static_cast<size_t>(plane.global[dim]), -1);
      for (size_t i = 0; i < plane.places[dim].size(); ++i)
        at[static_cast<size_t>(plane.places[dim][i])] = static_cast<int64_t>(i);
    }
  }
  int64_t local(int64_t named) const {
    if (named < 0 || named >= product_of(plane_.global))
      fail("index " + std::to_string(named) + " lies outside the plane of " +
           format_shape(plane_.global));
    int64_t linear = 0, step = 1;
    for (size_t dim = at_.size(); dim-- > 0; named /= plane_.global[dim]) {
      const int64_t at = at_[dim][static_cast<size_t>(named % plane_.global[dim])];
      require(at >= 0, "an index names a place of another rank");
      linear += at * step;
      step *= plane_.sizes[dim];
    }
    return linear;
  }

 private:
  const Plane& plane_;
  std::vector<std::vector<int64_t>> at_;
};

// Calls f(result, value) for every value and the place of the result, a plane each, that its index
// names.
template <typename C, typename F>
void scatter(const Call& call, std::string_view source, const Plane& plane, F&& f) {
  const TensorView values = call.tensor(source);
  const std::vector<C> from = load_dense<C>(values);
  const std::vector<int64_t> indices = load_dense<int64_t>(call.tensor("indices"));
  std::vector<C> result(static_cast<size_t>(call.output().element_count()), C(0));
  const int64_t area = product_of(plane.sizes);
  const auto spatial = static_cast<size_t>(values.ndim()) - plane.sizes.size();
  const int64_t windows = product_of(values.shape().subspan(spatial));
  const Finder finder(plane);
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t channel = static_cast<int64_t>(i) / windows;
    f(result[static_cast<size_t>(channel * area + finder.local(indices[i]))], from[i]);
  }
  store_dense(result.data(), call.output());
}

OpBuilder& declare_gradient(Registrar& r, std::string_view schema, int count) {
  return r.op(schema)
      .infer([count](const Call& call, OutputSink& outputs) {
        const TensorView grad = call.tensor("grad_output"), self = call.tensor("self");
        require(leading_of(self, count) == 1 || leading_of(self, count) == 2,
                "self needs channels before its spatial dims, and perhaps a batch");
        require_shape(call.tensor("indices"), grad.shape(), "indices");
        require(call.tensor("indices").dtype() == DType::kI64, "indices must be i64");
        require(grad.dtype() == self.dtype() && is_floating(grad.dtype()),
                "grad_output and self need one dtype of floats");
        const auto leading = static_cast<size_t>(leading_of(self, count));
        const bool fits =
            grad.ndim() == self.ndim() &&
            std::equal(grad.shape().begin(), grad.shape().begin() + leading, self.shape().begin());
        require(fits, "grad_output and self need the same batch and channels");
        outputs.add(grad.dtype(), shape_of(self));
      })
      .rules([count](const Call& call, RuleSink& sink) {
        const TensorView grad = call.tensor("grad_output");
        Law law{{"grad_output", "indices"}, {{kLinear, {"grad_output"}}}};
        const auto leading = static_cast<size_t>(leading_of(grad, count));
        if (product_of(grad.shape().subspan(leading)) == 1)  // nothing is added up
          law.families.insert(law.families.end(),
                              {{kMultiplicative, {"grad_output"}}, {kIncreasing, {"grad_output"}}});
        LawRules rules(call, sink, {law});
        rules.add_partials();
        cut_leading(call, rules, static_cast<int>(leading), {"grad_output", "self", "indices"});
        for (int dim = static_cast<int>(leading); dim < grad.ndim(); ++dim)  // some windows each
          rules.add_cut({partial("sum")},
                        {{"grad_output", any_shard(dim)}, {"indices", any_shard(dim)}});
      })
      .compute(kFloats | dtype_bit(DType::kI64),  // the indices
               [count](const Call& call, const onedim_execution_t&) {
                 scatter<double>(call, "grad_output", plane_of(call, "self", count),
                                 [](double& sum, double g) { sum += g; });
               })
      .cost(cost_per_element(1));
}

// The plane that output_size describes; it is never cut.
Plane wanted_plane(const Call& call, int count) {
  Plane plane;
  plane.sizes = plane.global = spatial_list(call, "output_size", count, 1);
  for (const int64_t size : plane.sizes) {
    std::vector<int64_t>& places = plane.places.emplace_back(static_cast<size_t>(size));
    std::iota(places.begin(), places.end(), 0);
  }
  return plane;
}

OpBuilder& declare_unpool(Registrar& r, std::string_view schema, int count) {
  return r.op(schema)
      .infer([count](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self");
        require(leading_of(self, count) == 1 || leading_of(self, count) == 2,
                "self needs channels before its spatial dims, and perhaps a batch");
        require_shape(call.tensor("indices"), self.shape(), "indices");
        require(call.tensor("indices").dtype() == DType::kI64, "indices must be i64");
        Shape shape = shape_of(self);
        shape.resize(shape.size() - static_cast<size_t>(count));
        for (const int64_t size : wanted_plane(call, count).sizes) shape.push_back(size);
        outputs.add(self.dtype(), shape);
      })
      .rules([count](const Call& call, RuleSink& sink) {
        // Each place takes one value or 0, so whatever passes a copy passes here.
        LawRules rules(call, sink, {{{"self", "indices"}, {{kIdentity, {"self"}}}}});
        rules.add_partials();
        cut_leading(call, rules, leading_of(call.tensor("self"), count), {"self", "indices"});
      })
      .compute(kFloats | kIntegerDTypes,
               [count](const Call& call, const onedim_execution_t&) {
                 with_compute_type<float, double, int64_t>(
                     call.output().dtype(), [&]<typename C>(C) {
                       scatter<C>(call, "self", wanted_plane(call, count),
                                  [](C& place, C value) { place = value; });
                     });
               })
      .cost(cost_per_element(1));
}

void declare_fixed(Registrar& r) {
  declare_forward(r,
                  "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], "
                  "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
                  2, fixed(2), true)
      .summary("largest places of windows over two spatial dims, and their indices")
      .gradient({"max_pool2d_with_indices_backward"})
      .samples({"f32[2,3,5,3]; kernel_size=[3,2]; stride=[2,1]; padding=[1,0]",
                "f64[3,2,4,2]; kernel_size=[2,1]",
                "f64[5,4,4]; kernel_size=[2,2]; stride=[1,2]; dilation=[2,1]",
                "i64[2,2,3,4]; kernel_size=[2,2]; padding=[1,1]; ceil_mode=true",
                "bf16[2,3,4,1]; kernel_size=[2,1]; stride=[2,1]"});
  declare_forward(r,
                  "max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], "
                  "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
                  3, fixed(3), true)
      .summary("largest places of windows over three spatial dims, and their indices")
      .gradient({"max_pool3d_with_indices_backward"})
      .samples({"f32[2,3,3,1,2]; kernel_size=[2,1,2]; stride=[1,1,1]",
                "f64[3,2,4,1,1]; kernel_size=[2,1,1]", "f64[5,2,2,3]; kernel_size=[2,1,2]",
                "i64[1,2,2,2,2]; kernel_size=[2,2,2]; padding=[1,1,1]; stride=[2,2,2]",
                "bf16[2,1,3,2,2]; kernel_size=[2,2,2]; padding=[1,0,1]; ceil_mode=true"});
  declare_gradient(r,
                   "max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] "
                   "kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, "
                   "Tensor indices) -> Tensor",
                   2)
      .summary("gradient of max_pool2d_with_indices: g added up at the indices")
      .samples({"f32[2,2,2,2]; f32[2,2,3,3]; i64[2,2,2,2]:index(9); kernel_size=[2,2]; "
                "stride=[1,1]; padding=[0,0]; dilation=[1,1]; ceil_mode=false",
                "f64[3,2,2,1]; f64[3,2,3,1]; i64[3,2,2,1]:index(3); kernel_size=[2,1]; "
                "stride=[1,1]; padding=[0,0]; dilation=[1,1]; ceil_mode=false",
                "f64[2,1,1]; f64[2,2,2]; i64[2,1,1]:index(4); kernel_size=[2,2]; stride=[]; "
                "padding=[0,0]; dilation=[1,1]; ceil_mode=false",
                "f64[5,1,3]; f64[5,1,5]; i64[5,1,3]:index(5); kernel_size=[1,3]; stride=[1,2]; "
                "padding=[0,1]; dilation=[1,1]; ceil_mode=false",
                "bf16[2,2,2]; bf16[2,2,3]; i64[2,2,2]:index(6); kernel_size=[1,2]; stride=[1,1]; "
                "padding=0; dilation=1; ceil_mode=false"});
  declare_gradient(r,
                   "max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] "
                   "kernel_size, int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode, "
                   "Tensor indices) -> Tensor",
                   3)
      .summary("gradient of max_pool3d_with_indices: g added up at the indices")
      .samples({"f32[2,2,2,1,1]; f32[2,2,3,1,1]; i64[2,2,2,1,1]:index(3); kernel_size=[2,1,1]; "
                "stride=[1,1,1]; padding=0; dilation=1; ceil_mode=false",
                "f64[3,1,2,1,1]; f64[3,1,3,1,1]; i64[3,1,2,1,1]:index(3); kernel_size=[2,1,1]; "
                "stride=[1,1,1]; padding=0; dilation=1; ceil_mode=false",
                "f64[2,1,1,1]; f64[2,2,2,1]; i64[2,1,1,1]:index(4); kernel_size=[2,2,1]; "
                "stride=[]; padding=0; dilation=1; ceil_mode=false",
                "f64[5,1,1,2]; f64[5,1,1,3]; i64[5,1,1,2]:index(3); kernel_size=[1,1,2]; "
                "stride=[1,1,1]; padding=0; dilation=1; ceil_mode=false",
                "bf16[2,2,1,2]; bf16[2,2,1,3]; i64[2,2,1,2]:index(6); kernel_size=[1,1,2]; "
                "stride=[1,1,1]; padding=0; dilation=1; ceil_mode=false"});
}

void declare_adaptive(Registrar& r) {
  declare_forward(r, "adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)", 2,
                  adaptive(2), false)
      .summary("largest places of a given number of windows over two spatial dims")
      .gradient({"adaptive_max_pool2d_backward"})
      .samples({"f32[2,3,5,3]; output_size=[3,2]", "f64[3,2,4,1]; output_size=[1,1]",
                "f64[5,4,2]; output_size=[2,1]", "f64[2,3,2,2]; output_size=[3,2]",
                "bf16[2,2,3,3]; output_size=[2,2]"});
  declare_forward(r, "adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)", 3,
                  adaptive(3), false)
      .summary("largest places of a given number of windows over three spatial dims")
      .gradient({"adaptive_max_pool3d_backward"})
      .samples({"f32[2,3,3,1,2]; output_size=[2,1,1]", "f64[3,2,4,1,1]; output_size=[1,1,1]",
                "f64[5,2,2,2]; output_size=[1,1,2]", "f64[2,3,1,2,2]; output_size=[1,3,1]",
                "bf16[2,2,1,3,3]; output_size=[1,2,2]"});
  const auto gradient = [&r](const std::string& dims, int count) -> OpBuilder& {
    return declare_gradient(r,
                            "adaptive_max_pool" + dims +
                                "_backward(Tensor grad_output, Tensor self, Tensor indices) -> "
                                "Tensor",
                            count)
        .summary("gradient of adaptive_max_pool" + dims + ": g added up at the indices");
  };
  gradient("2d", 2).samples({"f32[2,2,2,2]; f32[2,2,3,3]; i64[2,2,2,2]:index(9)",
                             "f64[3,2,2,1]; f64[3,2,3,1]; i64[3,2,2,1]:index(3)",
                             "f64[2,1,1]; f64[2,2,2]; i64[2,1,1]:index(4)",
                             "f64[5,1,3]; f64[5,1,5]; i64[5,1,3]:index(5)",
                             "bf16[2,2,2]; bf16[2,2,3]; i64[2,2,2]:index(6)"});
  gradient("3d", 3).samples({"f32[2,2,2,1,1]; f32[2,2,3,1,1]; i64[2,2,2,1,1]:index(3)",
                             "f64[3,1,2,1,1]; f64[3,1,3,1,1]; i64[3,1,2,1,1]:index(3)",
                             "f64[2,1,1,1]; f64[2,2,2,1]; i64[2,1,1,1]:index(4)",
                             "f64[5,1,1,2]; f64[5,1,1,3]; i64[5,1,1,2]:index(3)",
                             "bf16[2,2,1,2]; bf16[2,2,1,3]; i64[2,2,1,2]:index(6)"});
}

void declare_unpools(Registrar& r) {
  declare_unpool(r, "max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor", 2)
      .summary("values at their indices of a plane of zeros")
      .samples({"f32[2,3,2,2]; i64[2,3,2,2]:index(12); output_size=[3,4]",
                "f64[3,2,2,1]; i64[3,2,2,1]:index(4); output_size=[4,1]",
                "f64[5,2,2]; i64[5,2,2]:index(6); output_size=[2,3]",
                "i64[2,3,1,1]; i64[2,3,1,1]:index(4); output_size=[2,2]",
                "bf16[2,2,3,1]; i64[2,2,3,1]:index(5); output_size=[5,1]"});
  declare_unpool(r,
                 "max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, "
                 "int[3] padding) -> Tensor",
                 3)
      .summary("values at their indices of a volume of zeros")
      .samples({"f32[2,3,2,1,2]; i64[2,3,2,1,2]:index(8); output_size=[4,1,2]; stride=2; padding=0",
                "f64[3,2,2,1,1]; i64[3,2,2,1,1]:index(4); output_size=[4,1,1]; stride=2; padding=0",
                "f64[5,2,1,2]; i64[5,2,1,2]:index(6); output_size=[2,1,3]; stride=1; padding=0",
                "f64[2,3,1,1,1]; i64[2,3,1,1,1]:index(4); output_size=[1,2,2]; stride=2; padding=0",
                "bf16[2,2,3,1,1]; i64[2,2,3,1,1]:index(5); output_size=[5,1,1]; stride=1; "
                "padding=0"});
}

}  // namespace

void declare_max_pool(Registrar& r) {
  declare_fixed(r);
  declare_adaptive(r);
  declare_unpools(r);
}

}  // namespace nn
