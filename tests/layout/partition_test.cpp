#include "core/layout/partition.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace onedim {
namespace {

Tensor counting(DType dtype, Dims shape) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    store_integer(dtype, tensor.element(i), i + 1);
  return tensor;
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> result;
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    result.push_back(load_real(tensor.dtype(), tensor.element(i)));
  return result;
}

struct Placed {
  Mesh mesh;
  Layout layout;
};

Placed placed(std::string_view mesh_text, std::string_view layout, int ndim) {
  const Mesh mesh = *Mesh::parse(mesh_text);
  return {mesh, *parse_layout(layout, mesh, ndim)};
}

using Values = std::vector<double>;

TEST(Partition, ShardsTakeTheirSlice) {
  const Placed p = placed("a=4", "S(0)", 1);
  const std::vector<Tensor> locals = *split(counting(DType::kF32, {5}), p.layout, p.mesh);
  EXPECT_EQ(values(locals[0]), (Values{1, 2}));
  EXPECT_EQ(values(locals[1]), (Values{3, 4}));
  EXPECT_EQ(values(locals[2]), (Values{5}));
  EXPECT_EQ(locals[3].shape(), (Dims{0}));
}

TEST(Partition, StridedShardsOnBothDims) {
  const Placed p = placed("a=2,b=2", "SS(0,2),SS(1,2)", 2);
  const std::vector<Tensor> locals = *split(counting(DType::kI32, {4, 4}), p.layout, p.mesh);
  EXPECT_EQ(values(locals[0]), (Values{1, 3, 9, 11}));
  EXPECT_EQ(values(locals[3]), (Values{6, 8, 14, 16}));
}

TEST(Partition, SumsKeepTheValueOnCoordinateZero) {
  const Placed p = placed("a=2,b=2", "P(sum),P(sum)", 1);
  const std::vector<Tensor> locals = *split(counting(DType::kF32, {2}), p.layout, p.mesh);
  EXPECT_EQ(values(locals[0]), (Values{1, 2}));
  for (int rank = 1; rank < 4; ++rank) {
    EXPECT_EQ(values(locals[rank]), (Values{0, 0}));
    EXPECT_TRUE(std::signbit(values(locals[rank])[0])) << "the identity of float sum is -0";
  }
}

TEST(Partition, ProductsTakeOnesAndExtremaKeepTheValue) {
  const Placed product = placed("a=2", "P(product)", 1);
  EXPECT_EQ(values((*split(counting(DType::kI64, {2}), product.layout, product.mesh))[1]),
            (Values{1, 1}));
  for (const char* text : {"P(max)", "P(min)", "P(avg)"}) {
    const Placed p = placed("a=2", text, 1);
    EXPECT_EQ(values((*split(counting(DType::kF32, {2}), p.layout, p.mesh))[1]), (Values{1, 2}))
        << text;
  }
}

TEST(Partition, SumAndAverageMix) {
  const Placed p = placed("a=2,b=2", "P(sum),P(avg)", 1);
  std::vector<Tensor> locals(4, Tensor());
  for (int64_t rank = 0; rank < 4; ++rank) {
    locals[rank] = Tensor::zeros(DType::kF64, {1});
    store_real(DType::kF64, locals[rank].element(0), static_cast<double>(1 << rank));
  }
  EXPECT_EQ(values(*join(locals, Dims{1}, p.layout, p.mesh)), (Values{7.5})) << "(1+2+4+8) / 2";
  const Tensor global = counting(DType::kF64, {3});
  EXPECT_TRUE(
      bit_equal(*join(*split(global, p.layout, p.mesh), Dims{3}, p.layout, p.mesh), global));
}

TEST(Partition, ReplicasUseTheFirstRank) {
  const Placed p = placed("a=2", "R", 1);
  const std::vector<Tensor> locals = {counting(DType::kF32, {2}), Tensor::zeros(DType::kF32, {2})};
  EXPECT_EQ(values(*join(locals, Dims{2}, p.layout, p.mesh)), (Values{1, 2}));
}

TEST(Partition, UnevenRoundTripKeepsTheShape) {
  const Placed p = placed("a=4", "S(0)", 2);
  const Tensor global = counting(DType::kF32, {5, 10});
  const Result<Tensor> joined =
      join(*split(global, p.layout, p.mesh), Dims{5, 10}, p.layout, p.mesh);
  ASSERT_TRUE(joined.ok()) << joined.status();
  EXPECT_TRUE(bit_equal(*joined, global));
}

TEST(Partition, StridedGlobalsAreSplit) {
  const Placed p = placed("a=2", "S(1)", 2);
  const Tensor base = counting(DType::kI16, {3, 4});
  const Tensor turned = base.view(TensorMeta{DType::kI16, {4, 3}, {1, 4}}, 0);
  const std::vector<Tensor> locals = *split(turned, p.layout, p.mesh);
  EXPECT_EQ(values(locals[1]), (Values{9, 10, 11, 12}));
  EXPECT_TRUE(bit_equal(*join(locals, Dims{4, 3}, p.layout, p.mesh), turned));
}

TEST(Partition, ScatterWritesOnlyItsOwnElements) {
  const Placed p = placed("a=2", "SS(0,2)", 1);
  Tensor global = counting(DType::kI64, {5});
  const IndexMap map = index_map(Dims{5}, p.layout, p.mesh, {0});
  scatter_elements(Tensor::zeros(DType::kI64, {3}), map, global);
  EXPECT_EQ(values(global), (Values{0, 0, 3, 0, 5}));
}

// Each rank's own lengths 2,3,4,5 add up to the global size, but are not what the chunk rule gives.
TEST(Partition, JoinRefusesLocalsOfOtherShapes) {
  const Placed p = placed("a=4", "S(1)", 2);
  std::vector<Tensor> locals;
  for (int64_t length : {2, 3, 4, 5}) locals.push_back(Tensor::zeros(DType::kF32, {2, length}));
  EXPECT_EQ(message_of(join(locals, Dims{2, 14}, p.layout, p.mesh).status()),
            "the local tensor at coordinate [0] of the mesh a=4 is f32[2,2], expected f32[2,4] by "
            "its layout");
}

TEST(Partition, JoinRefusesWrongCountsAndDTypes) {
  const Placed p = placed("a=2", "S(0)", 1);
  std::vector<Tensor> locals = {Tensor::zeros(DType::kF32, {1})};
  EXPECT_EQ(message_of(join(locals, Dims{2}, p.layout, p.mesh).status()),
            "1 local tensors for the mesh a=2, expected one for each of 2 ranks");
  EXPECT_FALSE(join({}, Dims{2}, p.layout, p.mesh).ok());
  locals.push_back(Tensor::zeros(DType::kF64, {1}));
  EXPECT_EQ(message_of(join(locals, Dims{2}, p.layout, p.mesh).status()),
            "the local tensor at coordinate [1] of the mesh a=2 is f64[1], expected f32[1] by its "
            "layout");
}

TEST(Partition, SplitRefusesWhatItCannotPlace) {
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  const auto error = [&](DType dtype, std::vector<Placement> placements) {
    Layout layout;
    layout.placements = std::move(placements);
    return std::string(message_of(split(Tensor::zeros(dtype, {4}), layout, mesh).status()));
  };
  const Placement replicate = Placement::replicate();
  EXPECT_EQ(error(DType::kF32, {replicate}),
            "a layout needs one placement for each dim of the mesh a=2,b=2 (2), but has 1");
  EXPECT_EQ(error(DType::kF32, {Placement::shard(1), replicate}),
            "S(1) shards a dim that the tensor f32[4] does not have");
  EXPECT_EQ(error(DType::kF32, {Placement::shard(-1), replicate}),
            "S(-1) shards a dim that the tensor f32[4] does not have");
  EXPECT_EQ(error(DType::kF32, {Placement::strided_shard(0, 0), replicate}),
            "SS(0,0) has a split factor below 1");
  EXPECT_EQ(error(DType::kF32, {Placement::any_shard(0), replicate}),
            "S*(0) does not place a tensor f32[4], expected R, S, SS or P");
  EXPECT_EQ(error(DType::kF32, {Placement::none(), replicate}),
            "- does not place a tensor f32[4], expected R, S, SS or P");
  EXPECT_EQ(error(DType::kBool, {Placement::make_partial("sum"), replicate}),
            "P(sum) is not a built-in partial of bool tensors, which have P(max) P(min)");
  EXPECT_EQ(error(DType::kI32, {Placement::make_partial("avg"), replicate}),
            "P(avg) is not a built-in partial of i32 tensors, which have P(sum) P(max) P(min) "
            "P(product)");
  EXPECT_EQ(error(DType::kF32, {Placement::make_partial("pack.kind"), replicate}),
            "P(pack.kind#0) is not a built-in partial of f32 tensors, which have P(sum) P(avg) "
            "P(max) P(min) P(product)");
  EXPECT_EQ(error(DType::kF32, {Placement::make_partial("sum"), Placement::make_partial("max")}),
            "P(max) stands beside P(sum), only sum and avg may mix");
}

TEST(Partition, HugeTensorsAreNotMade) {
  const Placed p = placed("a=1", "R", 1);
  const Tensor element = Tensor::zeros(DType::kF32, {1});
  const int64_t huge = int64_t{1} << 40;
  const std::vector<Tensor> locals = {element.view(TensorMeta{DType::kF32, {huge}, {0}}, 0)};
  EXPECT_EQ(join(locals, Dims{huge}, p.layout, p.mesh).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(split(locals[0], p.layout, p.mesh).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace onedim
