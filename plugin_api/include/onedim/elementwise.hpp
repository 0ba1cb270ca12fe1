#pragma once
// Elementwise loops for kernels: walk the output in row-major order and apply a function to one row
// at a time, with broadcasting and any strides. Elements are loaded into a compute type C (float
// for the narrow floats and f32, double, int64_t for integers and bool, complex) and stored with
// the output's own rounding or wrapping, so a function is instantiated once per compute type, not
// once per dtype.

#include <onedim/dense.hpp>
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
inline Operand operand(const Call& call, std::string_view name) {
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

// Strides of an operand in the output's dims; 0 where it is broadcast.
inline void aligned_strides(const TensorView& tensor, const TensorView& out, int64_t* strides) {
  for (int dim = 0; dim < out.ndim(); ++dim) {
    const int own = dim - (out.ndim() - tensor.ndim());
    strides[dim] = own >= 0 && tensor.size(own) != 1 ? tensor.stride(own) : 0;
  }
}
}  // namespace detail

// out[i] = f(in0[i], in1[i], ...) over the output's elements; f takes and returns C (or what
// converts to it).
template <typename C, size_t N, typename F, size_t... I>
void map_rows(const TensorView& out, const std::array<Operand, N>& in, F&& f,
              std::index_sequence<I...>) {
  constexpr int64_t kChunk = 128;
  const int ndim = out.ndim();
  require(ndim <= kMaxDims, "tensors of more than 16 dims are not supported");
  std::array<std::array<int64_t, kMaxDims>, N> strides{};
  std::array<std::array<C, kChunk>, N> rows;
  std::array<const std::byte*, N> from{};
  for (size_t k = 0; k < N; ++k) {
    if (in[k].tensor.present()) {
      detail::aligned_strides(in[k].tensor, out, strides[k].data());
      from[k] = in[k].tensor.template data_as<const std::byte>();
    } else {
      rows[k].fill(detail::number_as<C>(in[k]));
    }
  }
  std::array<C, kChunk> result;
  std::array<int64_t, kMaxDims> index{};
  const int64_t inner = ndim > 0 ? out.size(ndim - 1) : 1;
  const int64_t inner_stride = ndim > 0 ? out.stride(ndim - 1) : 1;
  const int64_t row_count = inner > 0 ? out.element_count() / inner : 0;
  for (int64_t row = 0; row < row_count; ++row) {
    int64_t to = 0;
    std::array<int64_t, N> start{};
    for (int dim = 0; dim + 1 < ndim; ++dim) {
      to += index[dim] * out.stride(dim);
      for (size_t k = 0; k < N; ++k) start[k] += index[dim] * strides[k][dim];
    }
    for (int64_t begin = 0; begin < inner; begin += kChunk) {
      const int64_t count = std::min(kChunk, inner - begin);
      for (size_t k = 0; k < N; ++k) {
        if (from[k] == nullptr) continue;
        const TensorView& tensor = in[k].tensor;
        const int64_t stride = ndim > 0 ? strides[k][ndim - 1] : 0;
        const int64_t offset = start[k] + begin * stride;
        load_row(tensor.dtype(), from[k] + offset * size_of(tensor.dtype()), stride, count,
                 rows[k].data());
      }
      for (int64_t i = 0; i < count; ++i) result[i] = static_cast<C>(f(rows[I][i]...));
      store_row(out.dtype(), result.data(), inner_stride, count,
                out.data_as<std::byte>() + (to + begin * inner_stride) * size_of(out.dtype()));
    }
    for (int dim = ndim - 2; dim >= 0 && ++index[dim] == out.size(dim); --dim) index[dim] = 0;
  }
}
template <typename C, size_t N, typename F>
void map_elements(const TensorView& out, const std::array<Operand, N>& in, F&& f) {
  map_rows<C>(out, in, std::forward<F>(f), std::make_index_sequence<N>());
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

// Input dtypes that a list of compute types serves, as the kernel's mask.
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
