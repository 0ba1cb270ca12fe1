#include "core/layout/reduce.hpp"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "core/layout/placement.hpp"
#include "core/tensor/element.hpp"

namespace onedim {
namespace {

enum class Kind { kSum, kProduct, kMax, kMin };

Kind kind_of(std::string_view name) {
  if (name == "product") return Kind::kProduct;
  if (name == "max") return Kind::kMax;
  if (name == "min") return Kind::kMin;
  return Kind::kSum;
}

template <typename T>
auto arithmetic_accumulator() {
  if constexpr (kIsComplexElement<T>)
    return std::complex<double>();
  else if constexpr (kIsSmallFloat<T>)
    return 0.0f;
  else if constexpr (std::is_floating_point_v<T>)
    return 0.0;
  else
    return uint64_t{0};  // unsigned: wraps without undefined behaviour
}

template <typename T>
auto extremum_accumulator() {
  if constexpr (kIsSmallFloat<T>)
    return 0.0f;
  else if constexpr (std::is_same_v<T, BoolElement>)
    return uint8_t{0};
  else
    return T();
}

template <Kind kKind, typename T>
using Accumulator =
    std::conditional_t<kKind == Kind::kSum || kKind == Kind::kProduct,
                       decltype(arithmetic_accumulator<T>()), decltype(extremum_accumulator<T>())>;

template <typename A, typename T>
A widen(T value) {
  if constexpr (std::is_same_v<T, BoolElement>)
    return value.byte != 0;
  else
    return static_cast<A>(value);
}

template <typename T, typename A>
T narrow(A value) {
  if constexpr (std::is_same_v<T, BoolElement>)
    return BoolElement{static_cast<uint8_t>(value != A{})};
  else
    return static_cast<T>(value);
}

template <bool kIsMax, typename A>
A extremum(A a, A b) {
  if constexpr (std::is_floating_point_v<A>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) == kIsMax ? b : a;
  }
  return (kIsMax ? a < b : b < a) ? b : a;
}

template <Kind kKind, typename A>
A combine(A a, A b) {
  if constexpr (kKind == Kind::kSum)
    return a + b;
  else if constexpr (kKind == Kind::kProduct)
    return a * b;
  else
    return extremum<kKind == Kind::kMax>(a, b);
}

// A block at a time, so that each pass over the tensors stays in cache and the inner loops
// vectorise.
template <Kind kKind, typename T>
void reduce_contiguous(std::span<const T* const> locals, T* out, int64_t count, int64_t divisor) {
  using A = Accumulator<kKind, T>;
  constexpr int64_t kBlock = 256;
  A block[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t size = std::min(kBlock, count - begin);
    for (int64_t i = 0; i < size; ++i) block[i] = widen<A>(locals[0][begin + i]);
    for (const T* local : locals.subspan(1)) {
      for (int64_t i = 0; i < size; ++i)
        block[i] = combine<kKind>(block[i], widen<A>(local[begin + i]));
    }
    if (divisor != 1) {
      for (int64_t i = 0; i < size; ++i) block[i] /= static_cast<A>(divisor);
    }
    for (int64_t i = 0; i < size; ++i) out[begin + i] = narrow<T>(block[i]);
  }
}

template <Kind kKind>
Tensor reduce(std::span<const Tensor> locals, int64_t divisor) {
  Tensor result =
      Tensor::uninitialized(TensorMeta::contiguous(locals[0].dtype(), locals[0].shape()));
  visit_dtype(result.dtype(), [&]<typename T>(std::type_identity<T>) {
    constexpr bool kIsArithmetic = kKind == Kind::kSum || kKind == Kind::kProduct;
    if constexpr (kIsComplexElement<T> && !kIsArithmetic) {
      assert(false && "complex tensors have no max and min");
    } else {
      absl::InlinedVector<Tensor, 4> copies;  // keeps row-major copies of strided tensors alive
      absl::InlinedVector<const T*, 8> data;
      for (const Tensor& local : locals) {
        const bool is_contiguous = local.meta().is_contiguous();
        if (!is_contiguous) copies.push_back(local.clone());
        data.push_back(reinterpret_cast<const T*>((is_contiguous ? local : copies.back()).data()));
      }
      reduce_contiguous<kKind, T>(data, reinterpret_cast<T*>(result.data()), result.element_count(),
                                  divisor);
    }
  });
  return result;
}

// The value that loses against every other.
template <typename T>
T worst(bool is_max) {
  if constexpr (std::is_same_v<T, BoolElement>) {
    return BoolElement{static_cast<uint8_t>(!is_max)};
  } else if constexpr (std::is_same_v<T, Float8E4M3FN>) {
    return T(is_max ? -448.0 : 448.0);
  } else if constexpr (std::is_same_v<T, Float8E8M0>) {
    return T(is_max ? 0x1p-127 : 0x1p127);
  } else if constexpr (std::is_integral_v<T>) {
    return is_max ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  } else {
    const double infinity = std::numeric_limits<double>::infinity();
    return static_cast<T>(is_max ? -infinity : infinity);
  }
}

template <typename T>
T neutral(Kind kind) {
  if (kind == Kind::kMax || kind == Kind::kMin) return worst<T>(kind == Kind::kMax);
  if constexpr (std::is_same_v<T, BoolElement>)
    return BoolElement{kind == Kind::kProduct};
  else if constexpr (kIsComplexElement<T>)
    return kind == Kind::kProduct ? T(1, 0) : T(-0.0, -0.0);
  else
    return static_cast<T>(kind == Kind::kProduct ? 1.0 : -0.0);
}

}  // namespace

Tensor average_elements(std::span<const Tensor> locals, int64_t divisor) {
  return reduce<Kind::kSum>(locals, divisor);
}

Tensor reduce_elements(std::span<const Tensor> locals, std::string_view kind) {
  assert(!locals.empty() && is_builtin_partial(kind));
  switch (kind_of(kind)) {
    case Kind::kProduct:
      return reduce<Kind::kProduct>(locals, 1);
    case Kind::kMax:
      return reduce<Kind::kMax>(locals, 1);
    case Kind::kMin:
      return reduce<Kind::kMin>(locals, 1);
    case Kind::kSum:
      break;
  }
  return average_elements(locals, kind == "avg" ? static_cast<int64_t>(locals.size()) : 1);
}

Tensor identity_tensor(const TensorMeta& meta, std::string_view kind) {
  Tensor result = Tensor::uninitialized(meta);
  visit_dtype(meta.dtype, [&]<typename T>(std::type_identity<T>) {
    T* data = reinterpret_cast<T*>(result.data());
    std::fill_n(data, meta.storage_length(), neutral<T>(kind_of(kind)));
  });
  return result;
}

}  // namespace onedim
