// Interpolation of one to three spatial dims to sizes of choice. With scale s = L / O (or 1 /
// factor where one is given; (L - 1) / (O - 1) where corners are aligned), result o reads about
//   nearest        place floor(o s)             nearest_exact  place floor((o + 1/2) s)
//   (bi, tri)linear  the two places around (o + 1/2) s - 1/2, or o s with aligned corners
//   bicubic        the four places around it, by the cubic of Keys with a = -3/4
// Places beyond the ends are the ends. Each is a resampling (resample.hpp): from f32[2,3,4,4] to
// [8,8] nearest passes every partial, and whole blocks, `S(2) | S(2)`, as two results stand for one
// place; linear reads across blocks, so it leaves `P(sum) | S(2)`.

#include <cmath>

#include "resample.hpp"
#include "spatial.hpp"

namespace nn {
namespace {

enum class Kind { kNearest, kNearestExact, kLinear, kCubic };

// One dim of a call.
struct Dim {
  int64_t size, count;
  std::optional<double> factor;
  bool aligns_corners = false;
  bool is_double = false;  // else the arithmetic of places is that of f32, as in ATen
};

template <typename T>
T scale_of(const Dim& dim) {
  if (dim.aligns_corners)
    return dim.count > 1 ? static_cast<T>(dim.size - 1) / static_cast<T>(dim.count - 1) : T(0);
  if (dim.factor && *dim.factor > 0) return static_cast<T>(1.0 / *dim.factor);
  return static_cast<T>(dim.size) / static_cast<T>(dim.count);
}

template <typename T>
T middle_of(const Dim& dim, int64_t o) {
  const T scale = scale_of<T>(dim);
  return dim.aligns_corners ? scale * static_cast<T>(o)
                            : scale * (static_cast<T>(o) + T(0.5)) - T(0.5);
}

template <typename T>
T cubic_near(T x) {  // |x| <= 1
  constexpr T kA = T(-0.75);
  return ((kA + 2) * x - (kA + 3)) * x * x + 1;
}
template <typename T>
T cubic_far(T x) {  // 1 < |x| < 2
  constexpr T kA = T(-0.75);
  return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
}

// What result o reads.
template <typename T>
std::vector<std::pair<int64_t, double>> terms_of(Kind kind, const Dim& dim, int64_t o) {
  if (kind == Kind::kNearest)
    return {{static_cast<int64_t>(std::floor(scale_of<T>(dim) * static_cast<T>(o))), 1}};
  if (kind == Kind::kNearestExact)
    return {{static_cast<int64_t>(std::floor(scale_of<T>(dim) * (static_cast<T>(o) + T(0.5)))), 1}};
  const bool is_linear = kind == Kind::kLinear;
  if (is_linear && dim.size == dim.count) return {{o, 1}};
  const T middle = is_linear ? std::max(middle_of<T>(dim, o), T(0)) : middle_of<T>(dim, o);
  const T first = std::floor(middle), t = middle - first;
  const auto at = static_cast<int64_t>(first);
  if (is_linear) return {{at, T(1) - t}, {at + 1, t}};
  return {{at - 1, cubic_far(t + 1)},
          {at, cubic_near(t)},
          {at + 1, cubic_near(1 - t)},
          {at + 2, cubic_far(2 - t)}};
}

// Terms of one place are one entry; those of weight 0 are none.
Map map_of(Kind kind, const Dim& dim) {
  Map map{dim.count, dim.size, {}};
  for (int64_t o = 0; o < dim.count; ++o) {
    const auto terms =
        dim.is_double ? terms_of<double>(kind, dim, o) : terms_of<float>(kind, dim, o);
    const size_t begin = map.entries.size();
    for (const auto& [place, weight] : terms) {
      const int64_t in = std::clamp<int64_t>(place, 0, dim.size - 1);
      if (weight == 0) continue;
      if (map.entries.size() > begin && map.entries.back().in == in)
        map.entries.back().weight += weight;
      else
        map.entries.push_back({o, in, weight});
    }
    // All terms of a lone place add up to 1, but for rounding.
    if (map.entries.size() == begin + 1 && std::abs(map.entries.back().weight - 1) < 1e-5)
      map.entries.back().weight = 1;
  }
  return map;
}

// An op of the family: its dims and how its arguments name the factors.
struct Form {
  Kind kind;
  int spatial;
  bool is_list = false;  // `scale_factors`, with sizes perhaps from them
};

std::optional<double> factor_of(const Call& call, const Form& form, size_t i) {
  if (form.is_list) {
    const auto factors = call.attribute<std::optional<std::vector<double>>>("scale_factors");
    return factors ? std::optional<double>(factors->at(i)) : std::nullopt;
  }
  static constexpr const char* kNames[] = {"scales_d", "scales_h", "scales_w"};
  const char* name = form.spatial == 1 ? "scales" : kNames[3 - form.spatial + static_cast<int>(i)];
  return call.attribute<std::optional<double>>(name);
}

Resampling resampling_of(const Call& call, const Form& form, std::span<const int64_t> sizes,
                         DType dtype) {
  Resampling resampling;
  const bool aligns =
      call.find_attribute("align_corners") != nullptr && call.attribute<bool>("align_corners");
  const bool has_sizes = call.has_attribute("output_size");
  require(has_sizes != (form.is_list && call.has_attribute("scale_factors")),
          "either output_size or scale_factors must be given");
  std::vector<int64_t> counts;
  if (has_sizes) counts = spatial_list(call, "output_size", form.spatial, 1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    require(sizes[i] > 0, "a spatial dim of the input is empty");
    const std::optional<double> factor = factor_of(call, form, i);
    if (!has_sizes) counts.push_back(static_cast<int64_t>(static_cast<double>(sizes[i]) * *factor));
    require(counts[i] > 0, "a spatial dim of the result would be empty");
    resampling.maps.push_back(
        map_of(form.kind, {sizes[i], counts[i], factor, aligns, dtype == DType::kF64}));
  }
  return resampling;
}

ResamplingFn forward(const Form& form) {
  return [form](const Call& call) {
    const std::string_view source = form.is_list ? "input" : "self";
    const int slot = call.slot(source);
    require(call.input(slot).ndim() == form.spatial + 2,
            "the input needs a batch and channels before its spatial dims");
    std::vector<int64_t> sizes;
    for (int dim = 2; dim < form.spatial + 2; ++dim)
      sizes.push_back(call.global_size(false, slot, dim));
    Resampling resampling = resampling_of(call, form, sizes, call.input(slot).dtype());
    resampling.source = source;
    return resampling;
  };
}

// The sizes of the batch and channels that input_size gives are those of the global tensor.
ResamplingFn gradient(const Form& form) {
  return [form](const Call& call) {
    const auto sizes = call.attribute<std::vector<int64_t>>("input_size");
    const int slot = call.slot("grad_output");
    require(sizes.size() == static_cast<size_t>(form.spatial + 2) &&
                call.input(slot).ndim() == form.spatial + 2,
            "input_size and grad_output need a batch and channels before their spatial dims");
    for (int dim = 0; dim < 2; ++dim)
      require(call.global_size(false, slot, dim) == sizes[static_cast<size_t>(dim)],
              "input_size and grad_output need the same batch and channels");
    return resampling_of(call, form, std::span(sizes).subspan(2), call.input(slot).dtype())
        .gradient({});
  };
}

std::string bracketed(std::string_view leading, std::string_view places) {
  return "[" + std::string(leading) + std::string(places) + "]";
}

// Sizes before and after, where further dims are small and stay as they are.
std::string places(int spatial, const std::string& last) {
  static constexpr const char* kOthers[] = {"", "1,", "1,1,"};
  return kOthers[spatial - 1] + last;
}

void add_samples(OpBuilder& op, const Form& form, bool is_gradient) {
  const auto sample = [&](const std::string& dtype, const char* leading, const std::string& from,
                          const std::string& to, const std::string& aligns) {
    const std::string in = places(form.spatial, from), out = places(form.spatial, to);
    const std::string size = "; output_size=[" + out + "]";
    const bool has_corners = form.kind == Kind::kLinear || form.kind == Kind::kCubic;
    const std::string corners = has_corners ? "; align_corners=" + aligns : "";
    if (is_gradient)
      return dtype + bracketed(leading, out) + size + "; input_size=" + bracketed(leading, in) +
             corners;
    const std::string factors = form.is_list ? "; scale_factors=null" : "";
    return dtype + bracketed(leading, in) + size + factors + corners;
  };
  const std::vector<std::string> texts = {
      sample("f32", "2,3,", "5", "3", "false"), sample("f64", "3,2,", "2", "4", "true"),
      sample("f64", "5,1,", "4", "2", "false"), sample("f64", "2,2,", "3", "3", "true"),
      sample("bf16", "2,1,", "1", "3", "false")};
  op.example(texts.front()).samples([texts](SampleSink& samples) {
    for (const std::string& text : texts) samples.add(text);
  });
}

// `upsample_nearest2d`, its `.vec` form and its gradient.
void declare(Registrar& r, const std::string& name, const Form& form, const std::string& what) {
  static constexpr const char* kFactors[] = {
      "float? scales=None", "float? scales_h=None, float? scales_w=None",
      "float? scales_d=None, float? scales_h=None, float? scales_w=None"};
  const bool has_corners = form.kind == Kind::kLinear || form.kind == Kind::kCubic;
  const std::string corners = has_corners ? "bool align_corners, " : "";
  const std::string factors = kFactors[form.spatial - 1];
  const std::string dims = std::to_string(form.spatial);
  const uint64_t others = has_corners ? 0 : dtype_bit(DType::kU8);
  OpBuilder& plain = declare_resampling(
      r,
      name + "(Tensor self, SymInt[" + dims + "] output_size, " + corners + factors + ") -> Tensor",
      forward(form), others);
  plain.summary(what).gradient({name + "_backward"});
  add_samples(plain, form, false);
  Form list = form;
  list.is_list = true;
  OpBuilder& vec = declare_resampling(r,
                                      name + ".vec(Tensor input, SymInt[]? output_size, " +
                                          corners + "float[]? scale_factors) -> Tensor",
                                      forward(list), others);
  vec.summary(what + ", to sizes or by factors").gradient({name + "_backward"});
  add_samples(vec, list, false);
  OpBuilder& backward = declare_resampling(
      r,
      name + "_backward(Tensor grad_output, SymInt[" + dims + "] output_size, SymInt[" +
          std::to_string(form.spatial + 2) + "] input_size, " + corners + factors + ") -> Tensor",
      gradient(form), others);
  backward.summary("gradient of " + name);
  add_samples(backward, form, true);
}

}  // namespace

void declare_upsample(Registrar& r) {
  for (int spatial = 1; spatial <= 3; ++spatial) {
    const std::string dims = std::to_string(spatial) + "d";
    declare(r, "upsample_nearest" + dims, {Kind::kNearest, spatial}, "nearest places");
    declare(r, "_upsample_nearest_exact" + dims, {Kind::kNearestExact, spatial},
            "nearest places, from the middle of each result");
  }
  declare(r, "upsample_linear1d", {Kind::kLinear, 1}, "linear interpolation");
  declare(r, "upsample_bilinear2d", {Kind::kLinear, 2}, "linear interpolation in two dims");
  declare(r, "upsample_trilinear3d", {Kind::kLinear, 3}, "linear interpolation in three dims");
  declare(r, "upsample_bicubic2d", {Kind::kCubic, 2}, "cubic interpolation in two dims");
}

}  // namespace nn
