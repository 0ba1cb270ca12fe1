#pragma once
// Elementwise loops for kernels: walk the output in row-major order and apply a function to one row
// at a time, with broadcasting and any strides. Elements are loaded into a compute type C (float
// for the narrow floats and f32, double, int64_t for integers and bool, complex) and stored with
// the output's own rounding or wrapping, so a function is instantiated once per compute type, not
// once per dtype, and the walk once per compute type, not once per function.

#include <onedim/dense.hpp>
#include <onedim/inline.hpp>
#include <onedim/shapes.hpp>

#include <array>

namespace onedim::api {

// An input of an elementwise op: a tensor, or a number that every element sees.
struct Operand {
  TensorView tensor;
  std::complex<double> number;
  const onedim_value_t* value = nullptr;  // set for numbers
};

// The argument `name` as tensor or number; neither if it is absent.
ONEDIM_INLINE Operand operand(const Call& call, std::string_view name) {
  Operand found;
  found.tensor = call.tensor(name);
  if (found.tensor.present()) return found;
  const onedim_value_t* value = call.find_attribute(name);
  if (value == nullptr || value->kind == ONEDIM_VALUE_NONE) return found;
  found.value = value;
  found.number = detail::read_value<std::complex<double>>(*value, name);
  return found;
}

namespace detail {
template <typename C>
C number_as(const Operand& operand) {
  if constexpr (std::is_integral_v<C>) {
    if (operand.value->kind == ONEDIM_VALUE_FLOAT) return to_integer<C>(operand.value->real);
    return static_cast<C>(operand.value->integer);
  } else if constexpr (std::is_floating_point_v<C>) {
    return static_cast<C>(operand.number.real());
  } else {
    return C(operand.number);
  }
}

// One dim of the walk: strides of the output, then of each operand; 0 where it is broadcast.
inline constexpr size_t kMaxOperands = 7;
struct WalkDim {
  int64_t size = 1;
  std::array<int64_t, kMaxOperands + 1> strides{};
};
struct Walk {
  int ndim = 0;  // innermost first
  std::array<WalkDim, kMaxDims> dims;
};

// The output's dims without those of size 1, and with neighbours merged where all strides allow it.
ONEDIM_INLINE Walk make_walk(const TensorView& out, std::span<const Operand> in) {
  require(out.ndim() <= kMaxDims, "tensors of more than 16 dims are not supported");
  require(in.size() <= kMaxOperands, "kernels of more than 7 operands are not supported");
  Walk walk;
  for (int dim = out.ndim() - 1; dim >= 0; --dim) {
    if (out.size(dim) == 1) continue;
    WalkDim next{out.size(dim), {out.stride(dim)}};
    for (size_t k = 0; k < in.size(); ++k) {
      const TensorView& tensor = in[k].tensor;
      const int own = tensor.present() ? dim - (out.ndim() - tensor.ndim()) : -1;
      if (own >= 0 && tensor.size(own) != 1) next.strides[k + 1] = tensor.stride(own);
    }
    bool merges = walk.ndim > 0;
    for (size_t k = 0; merges && k <= in.size(); ++k) {
      const WalkDim& inner = walk.dims[walk.ndim - 1];
      merges = next.strides[k] == inner.strides[k] * inner.size;
    }
    if (merges)
      walk.dims[walk.ndim - 1].size *= next.size;
    else
      walk.dims[walk.ndim++] = next;
  }
  if (walk.ndim == 0) walk.ndim = 1;
  return walk;
}
}  // namespace detail

// Applies an element function `f` to `count` elements of the operands' rows.
template <typename C>
using RowFunction = void (*)(const void* f, const C* const* rows, C* result, int64_t count);

// A number rounded and wrapped as elements of `dtype` are; kUndefined leaves it as it is.
template <typename C>
C settled(C value, DType dtype) {
  if (dtype == DType::kUndefined) return value;
  alignas(16) std::array<std::byte, 16> element{};
  store_row(dtype, &value, 1, 1, element.data());
  load_row(dtype, element.data(), 1, 1, &value);
  return value;
}

// The walk behind map_elements. Numbers take the precision of `number_dtype`, if given.
template <typename C>
void map_rows(const TensorView& out, std::span<const Operand> in, RowFunction<C> apply,
              const void* f, DType number_dtype = DType::kUndefined) {
  constexpr int64_t kChunk = 128;
  const detail::Walk walk = detail::make_walk(out, in);
  std::array<std::array<C, kChunk>, detail::kMaxOperands> rows;
  std::array<const C*, detail::kMaxOperands> row_of{};
  for (size_t k = 0; k < in.size(); ++k) {
    row_of[k] = rows[k].data();
    if (in[k].tensor.present()) continue;
    rows[k].fill(in[k].value ? settled(detail::number_as<C>(in[k]), number_dtype) : C(0));
  }
  std::array<C, kChunk> result;
  std::array<int64_t, kMaxDims> index{};
  std::array<int64_t, detail::kMaxOperands + 1> at{};
  const detail::WalkDim& inner = walk.dims[0];
  for (int64_t row = inner.size > 0 ? out.element_count() / inner.size : 0; row > 0; --row) {
    for (int64_t begin = 0; begin < inner.size; begin += kChunk) {
      const int64_t count = std::min(kChunk, inner.size - begin);
      for (size_t k = 0; k < in.size(); ++k) {
        const TensorView& tensor = in[k].tensor;
        if (!tensor.present()) continue;
        const int64_t stride = inner.strides[k + 1];
        const int64_t bytes = (at[k + 1] + begin * stride) * size_of(tensor.dtype());
        load_row(tensor.dtype(), tensor.data_as<const std::byte>() + bytes, stride, count,
                 rows[k].data());
      }
      apply(f, row_of.data(), result.data(), count);
      const int64_t bytes = (at[0] + begin * inner.strides[0]) * size_of(out.dtype());
      store_row(out.dtype(), result.data(), inner.strides[0], count,
                out.data_as<std::byte>() + bytes);
    }
    for (int dim = 1; dim < walk.ndim; ++dim) {
      const detail::WalkDim& outer = walk.dims[dim];
      const bool ends = ++index[dim] == outer.size;
      for (size_t k = 0; k <= in.size(); ++k)
        at[k] += ends ? outer.strides[k] * (1 - outer.size) : outer.strides[k];
      if (!ends) break;
      index[dim] = 0;
    }
  }
}

namespace detail {
template <typename C, typename F, size_t... I>
RowFunction<C> row_function(std::index_sequence<I...>) {
  return [](const void* f, const C* const* rows, C* result, int64_t count) {
    const F& function = *static_cast<const F*>(f);
    for (int64_t i = 0; i < count; ++i) result[i] = static_cast<C>(function(rows[I][i]...));
  };
}
}  // namespace detail

// out[i] = f(in0[i], in1[i], ...) over the output's elements; f takes and returns C (or what
// converts to it), and may be called in any order.
template <typename C, size_t N, typename F>
void map_elements(const TensorView& out, const std::array<Operand, N>& in, const F& f,
                  DType number_dtype = DType::kUndefined) {
  map_rows<C>(out, in, detail::row_function<C, F>(std::make_index_sequence<N>()), &f, number_dtype);
}

// Calls f with a value of the compute type for `dtype`, if it is among Types.
template <typename... Types, typename F>
void with_compute_type(DType dtype, F&& f) {
  bool done = false;
  const auto offer = [&]<typename C>(C zero) {
    using T = C;
    const bool fits = std::is_same_v<T, double>    ? dtype == DType::kF64
                      : std::is_same_v<T, float>   ? is_floating(dtype) && dtype != DType::kF64
                      : std::is_same_v<T, int64_t> ? is_integral(dtype) || is_bool(dtype)
                      : std::is_same_v<T, std::complex<float>> ? dtype == DType::kC64
                                                               : dtype == DType::kC128;
    if (!fits || done) return;
    done = true;
    f(zero);
  };
  (offer(Types{}), ...);
  if (!done) fail("no kernel for this dtype", ONEDIM_STATUS_UNIMPLEMENTED);
}

// Input dtypes that a list of compute types serves, as the kernel's mask. A compute type serves all
// dtypes that convert to it: float also bf16, f16 and the f8s, int64_t all integers and bool. So it
// is for kernels that convert (map_elements, load_dense); one that reads data_as<float>() states
// exact_dtypes<float, double>() instead.
template <typename... Types>
constexpr uint64_t dtype_mask() {
  const auto bits = [](auto... t) { return (... | (uint64_t{1} << static_cast<int>(t))); };
  const auto of = [&]<typename T>(T) {
    using enum DType;
    if constexpr (std::is_same_v<T, double>)
      return bits(kF64);
    else if constexpr (std::is_same_v<T, float>)
      return bits(kF32, kBF16, kF16, kF8E4M3FN, kF8E5M2, kF8E8M0);
    else if constexpr (std::is_same_v<T, int64_t>)
      return bits(kI64, kI32, kI16, kI8, kU8, kBool);
    else if constexpr (std::is_same_v<T, std::complex<float>>)
      return bits(kC64);
    else
      return bits(kC128);
  };
  return (of(Types{}) | ...);
}
inline constexpr uint64_t kAllDTypes = (uint64_t{1} << ONEDIM_DTYPE_COUNT) - 1;

}  // namespace onedim::api
