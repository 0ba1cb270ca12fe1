#include "core/validate/lanes.hpp"

#include <cstring>

#include "core/tensor/element.hpp"

namespace onedim {
namespace {

template <typename Wide, typename T>
Wide widened(T value) {
  if constexpr (std::is_same_v<T, BoolElement>)
    return value.byte != 0;
  else
    return static_cast<Wide>(value);
}

template <typename T, typename Wide>
void read_run(const std::byte* from, int64_t count, Wide* to) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    to[i] = widened<Wide>(value);
  }
}

// One element of any dtype, for tensors whose elements do not lie side by side.
void read_element(DType dtype, const std::byte* from, Lanes& lanes, int64_t index) {
  switch (lanes.lane_class) {
    case LaneClass::kReal:
      lanes.reals[index] = load_real(dtype, from);
      return;
    case LaneClass::kInteger:
      lanes.integers[index] = load_integer(dtype, from);
      return;
    case LaneClass::kComplex: {
      const std::complex<double> value = load_complex(dtype, from);
      lanes.reals[2 * index] = value.real();
      lanes.reals[2 * index + 1] = value.imag();
    }
  }
}

void read_contiguous(const Tensor& tensor, int64_t count, Lanes& lanes) {
  visit_dtype(tensor.dtype(), [&]<typename T>(std::type_identity<T>) {
    if constexpr (kIsComplexElement<T>) {
      read_run<typename T::value_type>(tensor.data(), 2 * count, lanes.reals.data());
    } else if constexpr (std::is_same_v<T, BoolElement> || std::is_integral_v<T>) {
      read_run<T>(tensor.data(), count, lanes.integers.data());
    } else {
      read_run<T>(tensor.data(), count, lanes.reals.data());
    }
  });
}

void resize(Lanes& lanes, LaneClass lane_class, int64_t count) {
  lanes.lane_class = lane_class;
  lanes.integers.resize(lane_class == LaneClass::kInteger ? count : 0);
  lanes.reals.resize(lane_class == LaneClass::kReal      ? count
                     : lane_class == LaneClass::kComplex ? 2 * count
                                                         : 0);
}

}  // namespace

LaneClass lane_class_of(DType dtype) {
  if (is_complex(dtype)) return LaneClass::kComplex;
  return is_floating(dtype) ? LaneClass::kReal : LaneClass::kInteger;
}

int64_t Lanes::count() const {
  if (lane_class == LaneClass::kInteger) return static_cast<int64_t>(integers.size());
  return static_cast<int64_t>(reals.size()) / (lane_class == LaneClass::kComplex ? 2 : 1);
}

void read_lanes(const Tensor& tensor, Lanes& lanes) {
  const int64_t count = tensor.element_count();
  resize(lanes, lane_class_of(tensor.dtype()), count);
  if (tensor.meta().is_contiguous()) {
    read_contiguous(tensor, count, lanes);
    return;
  }
  for (int64_t i = 0; i < count; ++i) read_element(tensor.dtype(), tensor.element(i), lanes, i);
}

void write_lanes(const Lanes& lanes, Tensor& tensor) {
  const int64_t count = tensor.element_count();
  const DType dtype = tensor.dtype();
  const bool contiguous = tensor.meta().is_contiguous();
  const int64_t size = size_of(dtype);
  for (int64_t i = 0; i < count; ++i) {
    std::byte* to = contiguous ? tensor.data() + i * size : tensor.element(i);
    switch (lanes.lane_class) {
      case LaneClass::kReal:
        store_real(dtype, to, lanes.reals[i]);
        break;
      case LaneClass::kInteger:
        store_integer(dtype, to, lanes.integers[i]);
        break;
      case LaneClass::kComplex:
        store_complex(dtype, to, {lanes.reals[2 * i], lanes.reals[2 * i + 1]});
        break;
    }
  }
}

}  // namespace onedim
