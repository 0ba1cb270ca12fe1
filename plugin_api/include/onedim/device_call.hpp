#pragma once
// From a call to what device kernels receive (device_walk.hpp): elements, merged walks, positions.
// Dims of size 1 go, neighbours that all tensors step through alike become one, so that most calls
// walk one dim.

#include <onedim/device_elements.hpp>
#include <onedim/sinks.hpp>

#include <array>

namespace onedim::api {

// What device kernels of the shipped packs take: all but the 8-bit floats and c128.
inline constexpr uint64_t kDeviceDTypes = ((uint64_t{1} << ONEDIM_DTYPE_C128) - 1) & ~kF8DTypes;
inline constexpr uint64_t kDeviceFloats = dtype_bit(DType::kF64) | dtype_bit(DType::kF32) |
                                          dtype_bit(DType::kBF16) | dtype_bit(DType::kF16);

inline device::Elements elements_of(const TensorView& tensor) {
  if (!tensor.present()) return {};
  const auto dtype = static_cast<int32_t>(tensor.dtype());
  if (!device::has_device_elements(dtype))
    fail(std::string("no device kernel for ") + name_of(tensor.dtype()) + " elements",
         ONEDIM_STATUS_UNIMPLEMENTED);
  return {tensor.data(), dtype, 0};
}

// Adds a dim outside those that are there.
template <int kTensors>
void add_outer_dim(device::Walk<kTensors>& walk, int64_t size,
                   const std::array<int64_t, kTensors>& strides) {
  walk.count *= size;
  if (size == 1) return;
  bool merges = walk.ndim > 0;
  for (int k = 0; merges && k < kTensors; ++k) {
    const int inner = walk.ndim - 1;
    merges = strides[k] == walk.strides[inner][k] * walk.sizes[inner];
  }
  if (merges) {
    walk.sizes[walk.ndim - 1] *= size;
    return;
  }
  if (walk.ndim == device::kMaxDims)
    fail("the tensors' strides make more than 8 dims, at most 8 are supported on a device",
         ONEDIM_STATUS_UNIMPLEMENTED);
  walk.sizes[walk.ndim] = size;
  for (int k = 0; k < kTensors; ++k) walk.strides[walk.ndim][k] = strides[k];
  ++walk.ndim;
}

// Over the elements of `out`, to which the others are broadcast; those not present are not moved.
template <size_t kInputs>
device::Walk<kInputs + 1> broadcast_walk(const TensorView& out,
                                         const std::array<TensorView, kInputs>& inputs) {
  device::Walk<kInputs + 1> walk;
  for (int dim = out.ndim() - 1; dim >= 0; --dim) {
    std::array<int64_t, kInputs + 1> strides{out.stride(dim)};
    for (size_t k = 0; k < kInputs; ++k) {
      const int own = inputs[k].present() ? dim - (out.ndim() - inputs[k].ndim()) : -1;
      if (own >= 0 && inputs[k].size(own) != 1) strides[k + 1] = inputs[k].stride(own);
    }
    add_outer_dim<kInputs + 1>(walk, out.size(dim), strides);
  }
  return walk;
}

// The positions of dims, and the lists that some of them need at the start of the workspace. With
// no workspace it only counts the bytes.
class PositionLists {
 public:
  PositionLists() = default;
  explicit PositionLists(void* workspace) : next_(static_cast<int64_t*>(workspace)) {}

  device::Positions add(const Call& call, bool is_output, int slot, int dim) {
    const TensorView tensor = is_output ? call.output(slot) : call.input(slot);
    device::Positions positions{nullptr, 0, tensor.size(dim)};
    const std::span<const onedim_interval_t> intervals = intervals_of(call, is_output, slot, dim);
    if (!intervals.empty()) positions.first = intervals[0].begin;
    if (intervals.size() < 2) return positions;
    positions.list = next_;
    for (const onedim_interval_t& interval : intervals) {
      pieces_.push_back({interval.begin, interval.end, next_});
      if (next_ != nullptr) next_ += interval.end - interval.begin;
    }
    bytes_ += static_cast<uint64_t>(positions.length) * sizeof(int64_t);
    return positions;
  }

  device::Meeting meet(const Call& call, bool from_output, int from, int from_dim, bool to_output,
                       int to, int to_dim) {
    const auto a = intervals_of(call, from_output, from, from_dim);
    const auto b = intervals_of(call, to_output, to, to_dim);
    const auto is_equal = [](const onedim_interval_t& x, const onedim_interval_t& y) {
      return x.begin == y.begin && x.end == y.end;
    };
    device::Meeting meeting;
    meeting.is_same = std::equal(a.begin(), a.end(), b.begin(), b.end(), is_equal);
    if (meeting.is_same) return meeting;
    meeting.from = add(call, from_output, from, from_dim);
    meeting.to = add(call, to_output, to, to_dim);
    return meeting;
  }

  uint64_t bytes() const { return bytes_; }
  const std::vector<device::Piece>& pieces() const { return pieces_; }

 private:
  // Empty on whole tensors.
  static std::span<const onedim_interval_t> intervals_of(const Call& call, bool is_output, int slot,
                                                         int dim) {
    const onedim_location_t* at = call.location();
    if (at == nullptr) return {};
    const onedim_slot_location_t& where = (is_output ? at->outputs : at->inputs)[slot];
    const uint64_t begin = where.interval_begins[dim];
    return {where.intervals + begin, where.interval_begins[dim + 1] - begin};
  }

  int64_t* next_ = nullptr;
  uint64_t bytes_ = 0;
  std::vector<device::Piece> pieces_;
};

}  // namespace onedim::api
