#pragma once
// Call: a pack's view of one call of an op. Arguments are asked for by the schema's names; a tensor
// argument may be absent, or a plain number (then it is an attribute and has no slot). Everything
// is borrowed from the host for the duration of the callback. Wrong use throws Error, which the
// wrapper turns into a status.

#include <onedim/dtype.hpp>
#include <onedim/error.hpp>
#include <onedim/inline.hpp>

#include <complex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace onedim::api {

ONEDIM_INLINE std::string_view view_of(onedim_text_t text) { return {text.data, text.size}; }
ONEDIM_INLINE onedim_text_t text_of(std::string_view text) { return {text.data(), text.size()}; }

// One tensor of a call; sizes and strides count elements. Of one that is not there, and of a dim
// that it does not have, everything but `present` is an error, which the caller is told.
class TensorView {
 public:
  TensorView() = default;
  explicit TensorView(const onedim_tensor_t* raw) : raw_(raw) {}
  bool present() const { return raw_ != nullptr && raw_->present; }
  DType dtype() const { return static_cast<DType>(raw().dtype); }
  int ndim() const { return raw().ndim; }
  int64_t size(int dim) const { return raw().shape[checked(dim)]; }
  int64_t stride(int dim) const { return raw().strides[checked(dim)]; }
  std::span<const int64_t> shape() const { return {raw().shape, static_cast<size_t>(ndim())}; }
  std::span<const int64_t> strides() const { return {raw().strides, static_cast<size_t>(ndim())}; }
  int64_t element_count() const {
    int64_t count = 1;
    for (int64_t size : shape()) count *= size;
    return count;
  }
  void* data() const { return raw().data; }
  // The elements, which are of element_dtype<T>; another dtype throws. std::byte, and what no dtype
  // has as its element, is not checked.
  template <typename T>
  T* data_as() const {
    constexpr DType kWanted = element_dtype<std::remove_const_t<T>>();
    if (kWanted != DType::kUndefined && kWanted != dtype()) {
      fail(std::string("a kernel reads ") + name_of(dtype()) + " elements as " + name_of(kWanted) +
               "; narrow its dtypes, or convert with load_dense",
           ONEDIM_STATUS_UNIMPLEMENTED);
    }
    return static_cast<T*>(raw().data);
  }

 private:
  const onedim_tensor_t& raw() const {
    if (raw_ == nullptr) fail("a tensor is not there, or is a number, which the op does not take");
    return *raw_;
  }
  int checked(int dim) const {
    if (dim < 0 || dim >= ndim())
      fail("a tensor of " + std::to_string(ndim()) + " dims has no dim " + std::to_string(dim));
    return dim;
  }

  const onedim_tensor_t* raw_ = nullptr;
};

class Call {
 public:
  explicit Call(const onedim_call_t* raw) : raw_(raw) {}
  const onedim_call_t* raw() const { return raw_; }
  std::string_view op() const { return view_of(raw_->op); }

  int input_count() const { return static_cast<int>(raw_->input_count); }
  int output_count() const { return static_cast<int>(raw_->output_count); }
  TensorView input(int slot) const {
    return slot >= 0 && slot < input_count() ? TensorView(&raw_->inputs[slot]) : TensorView();
  }
  TensorView output(int slot = 0) const {
    return slot >= 0 && slot < output_count() ? TensorView(&raw_->outputs[slot]) : TensorView();
  }

  // Slots of a schema argument; first -1 where it is an attribute.
  const onedim_argument_t& argument(std::string_view name) const {
    const onedim_argument_t* found = find_argument(name);
    if (found == nullptr)
      fail("the schema of " + std::string(op()) + " has no argument " + std::string(name));
    return *found;
  }
  int slot(std::string_view name) const { return argument(name).first_slot; }
  // The argument that an input slot belongs to, as error texts name it: `mat2`, `tensors[1]`.
  std::string slot_name(int slot) const;
  // A tensor argument that is there as a tensor.
  bool has_tensor(std::string_view name) const {
    const onedim_argument_t* found = find_argument(name);
    return found && found->first_slot >= 0 && found->slot_count == 1 &&
           input(found->first_slot).present();
  }
  // Not present if absent or a number.
  TensorView tensor(std::string_view name) const {
    return has_tensor(name) ? input(slot(name)) : TensorView();
  }
  // Elements of a list; absent ones are not present.
  std::vector<TensorView> tensors(std::string_view name) const {
    const onedim_argument_t& list = argument(name);
    std::vector<TensorView> views;
    for (int i = 0; i < list.slot_count; ++i) views.push_back(input(list.first_slot + i));
    return views;
  }

  // Null where the schema has no such attribute.
  const onedim_value_t* find_attribute(std::string_view name) const {
    for (uint64_t i = 0; i < raw_->attribute_count; ++i) {
      if (view_of(raw_->attributes[i].name) == name) return &raw_->attributes[i].value;
    }
    return nullptr;
  }
  bool has_attribute(std::string_view name) const {
    const onedim_value_t* value = find_attribute(name);
    return value != nullptr && value->kind != ONEDIM_VALUE_NONE;
  }
  // T: bool, int64_t, double, std::complex<double>, std::string_view, DType, std::vector or
  // std::optional of these. Numbers convert upwards; none is an error unless T is optional; a lone
  // value reads as a list of one.
  template <typename T>
  T attribute(std::string_view name) const;

  // Null in a call on whole tensors.
  const onedim_location_t* location() const { return raw_->location; }
  uint64_t seed() const { return raw_->seed; }
  uint64_t call_id() const { return raw_->call_id; }
  // Size of an input's or output's dim in the global tensor.
  int64_t global_size(bool is_output, int slot, int dim) const {
    if (const onedim_location_t* at = location()) {
      return (is_output ? at->outputs : at->inputs)[slot].global_shape[dim];
    }
    return (is_output ? output(slot) : input(slot)).size(dim);
  }
  // Global index of a local index.
  int64_t global_index(bool is_output, int slot, int dim, int64_t local) const {
    const onedim_location_t* at = location();
    if (at == nullptr) return local;
    const onedim_slot_location_t& where = (is_output ? at->outputs : at->inputs)[slot];
    for (uint64_t i = where.interval_begins[dim]; i < where.interval_begins[dim + 1]; ++i) {
      const onedim_interval_t& interval = where.intervals[i];
      if (local < interval.end - interval.begin) return interval.begin + local;
      local -= interval.end - interval.begin;
    }
    fail("local index " + std::to_string(local) + " lies beyond the shard");
  }

 private:
  const onedim_argument_t* find_argument(std::string_view name) const {
    for (uint64_t i = 0; i < raw_->argument_count; ++i) {
      if (view_of(raw_->arguments[i].name) == name) return &raw_->arguments[i];
    }
    return nullptr;
  }
  const onedim_call_t* raw_;
};

namespace detail {
template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <typename T>
T read_value(const onedim_value_t& value, std::string_view name) {
  const bool integer = value.kind == ONEDIM_VALUE_INT || value.kind == ONEDIM_VALUE_BOOL;
  if constexpr (IsOptional<T>::value) {
    if (value.kind == ONEDIM_VALUE_NONE) return std::nullopt;
    return read_value<typename T::value_type>(value, name);
  } else if constexpr (IsVector<T>::value) {
    T items;
    if (value.kind != ONEDIM_VALUE_LIST) {
      items.push_back(read_value<typename T::value_type>(value, name));
      return items;
    }
    for (uint64_t i = 0; i < value.item_count; ++i) {
      items.push_back(read_value<typename T::value_type>(value.items[i], name));
    }
    return items;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (integer) return value.integer != 0;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    if (integer) return value.integer;
  } else if constexpr (std::is_same_v<T, double>) {
    if (integer) return static_cast<double>(value.integer);
    if (value.kind == ONEDIM_VALUE_FLOAT) return value.real;
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    if (integer) return static_cast<double>(value.integer);
    if (value.kind == ONEDIM_VALUE_FLOAT || value.kind == ONEDIM_VALUE_COMPLEX)
      return {value.real, value.imaginary};
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    if (value.kind == ONEDIM_VALUE_STRING) return view_of(value.text);
  } else if constexpr (std::is_same_v<T, DType>) {
    if (value.kind == ONEDIM_VALUE_DTYPE) return static_cast<DType>(value.integer);
  }
  fail("attribute " + std::string(name) + " has a value of the wrong type");
}
}  // namespace detail

ONEDIM_INLINE std::string Call::slot_name(int slot) const {
  for (uint64_t i = 0; i < raw_->argument_count; ++i) {
    const onedim_argument_t& argument = raw_->arguments[i];
    const int at = slot - argument.first_slot;
    if (argument.first_slot < 0 || at < 0 || at >= argument.slot_count) continue;
    std::string name(view_of(argument.name));
    return argument.slot_count == 1 ? name : name + "[" + std::to_string(at) + "]";
  }
  return "input " + std::to_string(slot);
}

template <typename T>
T Call::attribute(std::string_view name) const {
  const onedim_value_t* value = find_attribute(name);
  if (value == nullptr) fail(std::string(op()) + " has no attribute " + std::string(name));
  return detail::read_value<T>(*value, name);
}

// A number's dtype for promotion: bool, i64, f64 or c128.
ONEDIM_INLINE DType number_dtype(const onedim_value_t& value) {
  switch (value.kind) {
    case ONEDIM_VALUE_BOOL:
      return DType::kBool;
    case ONEDIM_VALUE_INT:
      return DType::kI64;
    case ONEDIM_VALUE_FLOAT:
      return DType::kF64;
    case ONEDIM_VALUE_COMPLEX:
      return DType::kC128;
    default:
      fail("expected a number");
  }
}

}  // namespace onedim::api
