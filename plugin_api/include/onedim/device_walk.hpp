#pragma once
// What device kernels receive by value: strided walks, elements, positions. Plain data, the same
// for the host's compiler and the device's; device_call.hpp makes them from a call.
//
// A walk runs over the elements of tensors of one shape in row-major order. f32[4,6] with strides
// [1,4], added to f32[6]: sizes (6,4) innermost first, strides (4,1) and (1,0).

#include <cstdint>

#ifdef __CUDACC__
#define ONEDIM_ON_DEVICE __host__ __device__
#else
#define ONEDIM_ON_DEVICE
#endif

namespace onedim::device {

inline constexpr int kMaxDims = 8;

template <int kTensors>
struct Walk {
  int64_t count = 1;
  int32_t ndim = 0;  // innermost first
  int32_t reserved = 0;
  int64_t sizes[kMaxDims] = {};
  int64_t strides[kMaxDims][kTensors] = {};

  // Offsets in elements of every tensor's element number `linear`.
  ONEDIM_ON_DEVICE void locate(int64_t linear, int64_t (&at)[kTensors]) const {
    for (int k = 0; k < kTensors; ++k) at[k] = 0;
    for (int dim = 0; dim < ndim; ++dim) {
      const bool is_outermost = dim + 1 == ndim;
      const int64_t index = is_outermost ? linear : take(linear, sizes[dim]);
      for (int k = 0; k < kTensors; ++k) at[k] += index * strides[dim][k];
    }
  }

 private:
  // linear % size, and leaves linear / size; short numbers are several times faster to divide.
  ONEDIM_ON_DEVICE static int64_t take(int64_t& linear, int64_t size) {
    if (((linear | size) >> 32) == 0) {
      const auto number = static_cast<uint32_t>(linear), divisor = static_cast<uint32_t>(size);
      linear = number / divisor;
      return number % divisor;
    }
    const int64_t rest = linear % size;
    linear /= size;
    return rest;
  }
};

// A tensor's memory; null where an argument is no tensor.
struct Elements {
  void* data = nullptr;
  int32_t dtype = 0;
  int32_t reserved = 0;
};

// Where a dim's local indices stand in the global tensor, ascending: `first` and those that follow
// it, or a list where the shard is of more than one piece.
struct Positions {
  const int64_t* list = nullptr;
  int64_t first = 0;
  int64_t length = 0;

  ONEDIM_ON_DEVICE int64_t global(int64_t local) const {
    return list == nullptr ? first + local : list[local];
  }
  // -1 where another rank holds it.
  ONEDIM_ON_DEVICE int64_t find(int64_t global_index) const {
    if (list == nullptr) {
      const int64_t local = global_index - first;
      return local >= 0 && local < length ? local : -1;
    }
    int64_t begin = 0, end = length;
    while (begin < end) {
      const int64_t middle = begin + (end - begin) / 2;
      if (list[middle] < global_index)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin < length && list[begin] == global_index ? begin : -1;
  }
};

// The local index in one tensor's dim of a local index in another's, where both lie over one global
// dim.
struct Meeting {
  Positions from;
  Positions to;
  bool is_same = true;

  ONEDIM_ON_DEVICE int64_t find(int64_t local) const {
    return is_same ? local : to.find(from.global(local));
  }
};

// One piece of a positions list that is to be written.
struct Piece {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t* to = nullptr;
};

}  // namespace onedim::device
