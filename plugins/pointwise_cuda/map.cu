#include "map.hpp"

#include <cmath>

#include <onedim/device_launch.cuh>

namespace pointwise_cuda {
namespace {

using namespace onedim::device;
using Pair = Complex<float>;

template <typename C>
__device__ C number_as(const Number& number) {
  if constexpr (kIsComplex<C>)
    return {static_cast<float>(number.real), static_cast<float>(number.imaginary)};
  else if constexpr (std::is_integral_v<C>)
    return number.integer;
  else
    return static_cast<C>(number.real);
}

// Integers wrap modulo 2^64; complex products follow the plain formula.
template <typename C>
__device__ C plus(C a, C b) {
  if constexpr (kIsComplex<C>)
    return {a.real + b.real, a.imaginary + b.imaginary};
  else if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <typename C>
__device__ C negated(C a) {
  if constexpr (kIsComplex<C>)
    return {-a.real, -a.imaginary};
  else if constexpr (std::is_integral_v<C>)
    return static_cast<C>(uint64_t{0} - static_cast<uint64_t>(a));
  else
    return -a;
}
template <typename C>
__device__ C times(C a, C b) {
  if constexpr (kIsComplex<C>)
    return {a.real * b.real - a.imaginary * b.imaginary,
            a.real * b.imaginary + a.imaginary * b.real};
  else if constexpr (std::is_integral_v<C>)
    return static_cast<C>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

template <typename C>
struct Add {
  C alpha;
  __device__ C operator()(C a, C b) const { return plus(a, times(alpha, b)); }
};
template <typename C>
struct Subtract {
  C alpha;
  __device__ C operator()(C a, C b) const { return plus(a, negated(times(alpha, b))); }
};
template <typename C>
struct Multiply {
  __device__ C operator()(C a, C b) const { return times(a, b); }
};

// Complex quotients in double, whose range holds every square of a float.
template <typename C>
struct Divide {
  __device__ C operator()(C a, C b) const {
    if constexpr (kIsComplex<C>) {
      const double x = b.real, y = b.imaginary, norm = x * x + y * y;
      return {static_cast<float>((a.real * x + a.imaginary * y) / norm),
              static_cast<float>((a.imaginary * x - a.real * y) / norm)};
    } else {
      return a / b;
    }
  }
};

// Integer powers of negative exponents are 0 but for the bases 1 and -1.
__device__ int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    return base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  int64_t result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = times(result, base);
    base = times(base, base);
  }
  return result;
}

template <typename C>
struct Power {
  __device__ C operator()(C base, C exponent) const {
    if constexpr (std::is_integral_v<C>) {
      return integer_power(base, exponent);
    } else {
      // Exactly rounded, and what most calls ask for.
      if (exponent == C(1)) return base;
      if (exponent == C(2)) return base * base;
      if (exponent == C(3)) return base * base * base;
      return std::pow(base, exponent);
    }
  }
};

template <typename C>
struct Copy {
  __device__ C operator()(C a) const { return a; }
};
template <typename C>
struct Conjugate {
  __device__ C operator()(C a) const { return {a.real, -a.imaginary}; }
};
template <typename C>
struct Negate {
  __device__ C operator()(C a) const { return negated(a); }
};
template <typename C>
struct Exp {
  __device__ C operator()(C a) const { return std::exp(a); }
};
template <typename C>
struct Log {
  __device__ C operator()(C a) const { return std::log(a); }
};
template <typename C>
struct Sqrt {
  __device__ C operator()(C a) const { return std::sqrt(a); }
};
template <typename C>
struct Rsqrt {
  __device__ C operator()(C a) const { return C(1) / std::sqrt(a); }
};
template <typename C>
struct Reciprocal {
  __device__ C operator()(C a) const { return C(1) / a; }
};
template <typename C>
struct Sigmoid {
  __device__ C operator()(C a) const { return C(1) / (C(1) + std::exp(-a)); }
};
template <typename C>
struct Silu {
  __device__ C operator()(C a) const { return a / (C(1) + std::exp(-a)); }
};
template <typename C>
struct Tanh {
  __device__ C operator()(C a) const { return std::tanh(a); }
};

template <typename C, template <typename> class F>
__global__ void map_one(MapCall call) {
  const F<C> f{};
  for (int64_t i = first_element(); i < call.walk.count; i += element_step()) {
    int64_t at[3];
    call.walk.locate(i, at);
    store(call.out, at[0], f(load<C>(call.inputs[0].tensor, at[1])));
  }
}

template <typename C>
__device__ C value_of(const Input& input, int64_t at, C number) {
  return input.tensor.data != nullptr ? load<C>(input.tensor, at) : number;
}

template <typename C, template <typename> class F>
__global__ void map_two(MapCall call) {
  F<C> f{};
  if constexpr (requires { f.alpha; }) f.alpha = number_as<C>(call.alpha);
  const C a = number_as<C>(call.inputs[0].number), b = number_as<C>(call.inputs[1].number);
  for (int64_t i = first_element(); i < call.walk.count; i += element_step()) {
    int64_t at[3];
    call.walk.locate(i, at);
    store(call.out, at[0],
          f(value_of(call.inputs[0], at[1], a), value_of(call.inputs[1], at[2], b)));
  }
}

using Kernel = void (*)(MapCall);

// Kernels by compute type; null where there is none.
struct KernelRow {
  Kernel of_float, of_double, of_integer, of_complex;
};

template <template <typename> class F>
constexpr KernelRow kTwo = {map_two<float, F>, map_two<double, F>, map_two<int64_t, F>,
                            map_two<Pair, F>};
template <template <typename> class F>
constexpr KernelRow kOne = {map_one<float, F>, map_one<double, F>, map_one<int64_t, F>,
                            map_one<Pair, F>};
template <template <typename> class F>
constexpr KernelRow kOneFloat = {map_one<float, F>, map_one<double, F>, nullptr, nullptr};

KernelRow kernels_of(Function function) {
  switch (function) {
    case Function::kAdd:
      return kTwo<Add>;
    case Function::kSubtract:
      return kTwo<Subtract>;
    case Function::kMultiply:
      return kTwo<Multiply>;
    case Function::kDivide:
      return {map_two<float, Divide>, map_two<double, Divide>, nullptr, map_two<Pair, Divide>};
    case Function::kPower:
      return {map_two<float, Power>, map_two<double, Power>, map_two<int64_t, Power>, nullptr};
    case Function::kCopy:
      return kOne<Copy>;
    case Function::kConjugate:
      return {nullptr, nullptr, nullptr, map_one<Pair, Conjugate>};
    case Function::kNegate:
      return kOne<Negate>;
    case Function::kExp:
      return kOneFloat<Exp>;
    case Function::kLog:
      return kOneFloat<Log>;
    case Function::kSqrt:
      return kOneFloat<Sqrt>;
    case Function::kRsqrt:
      return kOneFloat<Rsqrt>;
    case Function::kReciprocal:
      return kOneFloat<Reciprocal>;
    case Function::kSigmoid:
      return kOneFloat<Sigmoid>;
    case Function::kSilu:
      return kOneFloat<Silu>;
    case Function::kTanh:
      return kOneFloat<Tanh>;
  }
  return {};
}

Kernel kernel_of(Function function, ComputeType type) {
  const KernelRow row = kernels_of(function);
  switch (type) {
    case ComputeType::kFloat:
      return row.of_float;
    case ComputeType::kDouble:
      return row.of_double;
    case ComputeType::kInteger:
      return row.of_integer;
    case ComputeType::kComplex:
      return row.of_complex;
  }
  return nullptr;
}

}  // namespace

void run_map(Function function, ComputeType type, const MapCall& call,
             const onedim_execution_t& execution) {
  const Kernel kernel = kernel_of(function, type);
  if (kernel == nullptr)
    onedim::api::fail("no device kernel for results of this dtype", ONEDIM_STATUS_UNIMPLEMENTED);
  const DeviceScope scope(execution);
  if (call.walk.count == 0) return;
  launch(execution, kernel, blocks_of(call.walk.count), dim3(kBlockSize), call);
}

}  // namespace pointwise_cuda
