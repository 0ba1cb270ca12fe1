#pragma once
// Box: a strided part of a tensor, as bytes. What moves elements moves boxes, whatever the dtype.

#include <onedim/pack.hpp>

namespace shape {

using namespace onedim::api;

struct Box {
  std::byte* data = nullptr;
  int64_t item = 1;  // bytes of an element
  Shape sizes;
  Shape strides;  // in elements
};

Box box_of(const TensorView& tensor);

// The box with one more dim of size 1 before `dim`.
Box with_dim(Box box, int dim);

// All of `from` into `to`, which is as large.
void copy_box(const Box& from, const Box& to);

// All elements of `to` become the one at `value`.
void fill_box(const Box& to, const std::byte* value);

// What a sum over ranks that do not have an element adds there: -0 for floats, else 0.
std::array<std::byte, 16> neutral_of_sum(DType dtype);

// A number as an element of `dtype`.
std::array<std::byte, 16> element_of(const onedim_value_t& number, DType dtype);

}  // namespace shape
