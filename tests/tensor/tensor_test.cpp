#include "core/tensor/tensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/random_seed.hpp"

namespace onedim {
namespace {

// 0, 1, 2, ... in row-major order.
Tensor counting(DType dtype, Dims shape) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.element_count(); ++i) store_integer(dtype, tensor.element(i), i);
  return tensor;
}

Tensor transposed(const Tensor& tensor) {
  TensorMeta meta = tensor.meta();
  std::reverse(meta.shape.begin(), meta.shape.end());
  std::reverse(meta.strides.begin(), meta.strides.end());
  return tensor.view(meta, 0);
}

TEST(TensorMeta, ContiguousIgnoresDimsOfSizeOne) {
  EXPECT_TRUE((TensorMeta{DType::kF32, {}, {}}.is_contiguous()));
  EXPECT_TRUE((TensorMeta{DType::kF32, {2, 3}, {3, 1}}.is_contiguous()));
  EXPECT_TRUE((TensorMeta{DType::kF32, {1, 3}, {99, 1}}.is_contiguous()));
  EXPECT_TRUE((TensorMeta{DType::kF32, {2, 0}, {7, 7}}.is_contiguous()));
  EXPECT_TRUE((TensorMeta{DType::kF32, {0, 2}, {7, 7}}.is_contiguous()));
  EXPECT_FALSE((TensorMeta{DType::kF32, {2, 3}, {1, 2}}.is_contiguous()));
  EXPECT_FALSE((TensorMeta{DType::kF32, {2, 3}, {0, 1}}.is_contiguous()));
}

TEST(TensorMeta, StorageLengthFollowsTheStrides) {
  EXPECT_EQ((TensorMeta{DType::kF32, {}, {}}.storage_length()), 1);
  EXPECT_EQ((TensorMeta{DType::kF32, {2, 3}, {10, 2}}.storage_length()), 15);
  EXPECT_EQ((TensorMeta{DType::kF32, {5}, {0}}.storage_length()), 1);
  EXPECT_EQ((TensorMeta{DType::kF32, {5, 0}, {1, 1}}.storage_length()), 0);
}

TEST(Tensor, ZerosAreZeroAndAligned) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType dtype = static_cast<DType>(i);
    if (dtype == DType::kF8E8M0) continue;  // its zero bits mean 2^-127
    const Tensor tensor = Tensor::zeros(dtype, {3, 5});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 16, 0u);
    for (int64_t e = 0; e < 15; ++e) EXPECT_EQ(load_real(dtype, tensor.element(e)), 0);
  }
}

TEST(Tensor, CopiesShareAndClonesDoNot) {
  Tensor tensor = counting(DType::kF32, {4});
  Tensor copy = tensor, clone = tensor.clone();
  store_real(DType::kF32, tensor.element(2), 9);
  EXPECT_EQ(load_real(DType::kF32, copy.element(2)), 9);
  EXPECT_EQ(load_real(DType::kF32, clone.element(2)), 2);
  EXPECT_TRUE(copy.shares_storage_with(tensor));
  EXPECT_FALSE(clone.shares_storage_with(tensor));
}

TEST(Tensor, NarrowIsAView) {
  const Tensor tensor = counting(DType::kI32, {4, 6});
  const Tensor view = tensor.narrow(1, 2, 5).narrow(0, 1, 3);
  EXPECT_EQ(view.shape(), (Dims{2, 3}));
  EXPECT_TRUE(view.shares_storage_with(tensor));
  EXPECT_EQ(load_integer(DType::kI32, view.element(0)), 8);
  EXPECT_EQ(load_integer(DType::kI32, view.element(5)), 16);
  EXPECT_EQ(tensor.narrow(0, 2, 2).element_count(), 0);
}

TEST(Tensor, ViewsOutliveTheirTensor) {
  Tensor view;
  {
    const Tensor tensor = counting(DType::kI64, {10});
    view = tensor.narrow(0, 7, 10);
  }
  EXPECT_EQ(load_integer(DType::kI64, view.element(0)), 7);
}

TEST(Tensor, CloneOfAViewIsRowMajor) {
  const Tensor clone = transposed(counting(DType::kU8, {2, 3})).clone();
  EXPECT_TRUE(clone.meta().is_contiguous());
  const int64_t expected[] = {0, 3, 1, 4, 2, 5};
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(load_integer(DType::kU8, clone.element(i)), expected[i]);
}

TEST(Tensor, BroadcastStridesAreRead) {
  const Tensor row = counting(DType::kF64, {3});
  const Tensor clone = row.view(TensorMeta{DType::kF64, {2, 3}, {0, 1}}, 0).clone();
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(load_real(DType::kF64, clone.element(i)), i % 3);
}

TEST(Tensor, BitEqualSeesBitsOnly) {
  Tensor a = Tensor::zeros(DType::kF32, {2}), b = Tensor::zeros(DType::kF32, {2});
  EXPECT_TRUE(bit_equal(a, b));
  store_real(DType::kF32, b.element(1), -0.0);
  EXPECT_FALSE(bit_equal(a, b));
  store_real(DType::kF32, a.element(1), NAN);
  store_real(DType::kF32, b.element(1), NAN);
  EXPECT_TRUE(bit_equal(a, b));
  EXPECT_FALSE(bit_equal(a, Tensor::zeros(DType::kI32, {2})));
  EXPECT_FALSE(bit_equal(a, Tensor::zeros(DType::kF32, {2, 1})));
  EXPECT_TRUE(bit_equal(Tensor::zeros(DType::kF32, {0, 3}), Tensor::zeros(DType::kF32, {0, 3})));
}

TEST(Tensor, CopyAndCompareAgreeOnRandomStrides) {
  std::mt19937_64 random(random_seed());
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 500; ++round) {
    const DType dtype = static_cast<DType>(draw(0, kDTypeCount - 1));
    Tensor large = Tensor::zeros(dtype, Dims(draw(0, 4), 5));
    for (int64_t i = 0; i < large.element_count() * size_of(dtype); ++i) {
      large.data()[i] = static_cast<std::byte>(draw(0, 255));
    }
    Tensor from = large;
    for (int dim = 0; dim < large.ndim(); ++dim) {
      const int64_t begin = draw(0, 4);
      from = from.narrow(dim, begin, draw(begin, 5));
    }
    if (draw(0, 1)) from = transposed(from);
    Tensor to = Tensor::zeros(dtype, from.shape());
    if (draw(0, 1)) to = transposed(Tensor::zeros(dtype, transposed(from).shape()));
    copy_elements(from, to);
    ASSERT_TRUE(bit_equal(from, to)) << format_meta(from.meta());
    for (int64_t i = 0; i < from.element_count(); ++i) {
      ASSERT_EQ(std::memcmp(from.element(i), to.element(i), size_of(dtype)), 0);
    }
    if (from.element_count() == 0) continue;
    to.element(draw(0, to.element_count() - 1))[0] ^= std::byte{1};
    ASSERT_FALSE(bit_equal(from, to));
  }
}

TEST(Tensor, HugeTensorsAreDescribedButNotMade) {
  const TensorMeta meta = *parse_meta("f32[1048576,1048576]");
  EXPECT_EQ(meta.element_count(), int64_t{1} << 40);
  EXPECT_EQ(message_of(check_allocatable(meta)),
            "a tensor f32[1048576,1048576] takes 4398046511104 bytes, expected at most "
            "68719476736; describe it "
            "without data or use a smaller one");
  EXPECT_TRUE(check_allocatable(*parse_meta("f32[1024,1024]")).ok());
}

}  // namespace
}  // namespace onedim
