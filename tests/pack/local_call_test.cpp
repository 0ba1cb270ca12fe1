#include "core/pack/local_call.hpp"

#include <gtest/gtest.h>

#include "core/pack/prepared_call.hpp"
#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::call_of;
using tiny::fails_with;
using tiny::TinyOp;
using tiny::TinyPack;

Layout layout_of(std::string_view text, const Mesh& mesh, int ndim) {
  Result<Layout> layout = parse_layout(text, mesh, ndim);
  EXPECT_TRUE(layout.ok()) << layout.status();
  return layout.ok() ? *std::move(layout) : Layout{};
}

// Makes the local call of `text` under layouts in text; slots that are absent have "".
Result<LocalCall> localize(const Op& op, std::string_view text, const Mesh& mesh,
                           std::vector<std::string> inputs, std::vector<std::string> outputs,
                           Dims coordinate, std::vector<uint64_t> tags = {}) {
  const Call call = call_of(op, text);
  const Result<std::vector<OptionalOutput>> metas = op.infer(call);
  EXPECT_TRUE(metas.ok()) << metas.status();
  std::vector<Layout> input_layouts;
  std::vector<Layout> output_layouts;
  for (size_t i = 0; i < inputs.size(); ++i) {
    input_layouts.push_back(inputs[i].empty() ? Layout{} : layout_of(inputs[i], mesh, 8));
  }
  for (const std::string& output : outputs) output_layouts.push_back(layout_of(output, mesh, 8));
  if (tags.empty()) tags.assign(mesh.ndim(), 0);
  return make_local_call(op, call, *metas, input_layouts, output_layouts, mesh, coordinate, tags);
}

TinyPack view_pack() {
  TinyPack pack;
  TinyOp& expand =
      pack.op("x.full_like(Tensor x, int[] size, int? extra=None, Tensor? y=None) -> Tensor");
  expand.infer = [](const onedim_host_t* host, const onedim_call_t* call, onedim_sink_t* sink) {
    std::vector<int64_t> shape;
    const onedim_value_t* size = tiny::attribute(call, "size");
    for (uint64_t i = 0; i < size->item_count; ++i) {
      const int64_t given = size->items[i].integer;
      shape.push_back(given == -1 ? call->inputs[0].shape[i] : given);
    }
    const onedim_value_t* extra = tiny::attribute(call, "extra");
    if (extra->kind == ONEDIM_VALUE_INT) shape.push_back(extra->integer);
    return tiny::emit_meta(host, sink, DType::kF64, shape);
  };
  expand.sizes = {{tiny::text_of("size"), 0, 0}, {tiny::text_of("extra"), 0, 2}};
  TinyOp& row = pack.op("x.first_dim(Tensor x) -> Tensor");
  row.flags = ONEDIM_OP_POSITION_AWARE;
  row.infer = [](const onedim_host_t* host, const onedim_call_t* call, onedim_sink_t* sink) {
    return tiny::emit_meta(host, sink, DType::kF64, {call->inputs[0].shape[0]});
  };
  row.accept = [](const onedim_host_t* host, const onedim_call_t* call) -> int32_t {
    if (call->location != nullptr && call->inputs[0].shape[0] == 3) {
      return tiny::refuse(host, ONEDIM_STATUS_INVALID_ARGUMENT,
                          "three rows are not for this kernel");
    }
    return ONEDIM_OK;
  };
  pack.op("x.first_dim_(Tensor(a!) x) -> Tensor(a!)").variant_of = "x.first_dim";
  return pack;
}

class LocalCallTest : public ::testing::Test {
 protected:
  const Op& op(std::string_view name) const { return *registry_.find(name); }

  TinyPack pack_ = view_pack();
  Registry registry_ = tiny::commit(pack_);
  Mesh mesh_ = *Mesh::parse("a=2,b=3");
};

TEST_F(LocalCallTest, ShapesAndLocationsFollowTheLayouts) {
  const Result<LocalCall> local = localize(op("x.first_dim"), "f64[7,5]", mesh_, {"S(0),P(sum)"},
                                           {"S(0),P(sum)"}, {1, 2}, {11, 12});
  ASSERT_FALSE(local.ok());  // the second rank has three rows
  const Result<LocalCall> first = localize(op("x.first_dim"), "f64[7,5]", mesh_, {"S(0),P(sum)"},
                                           {"S(0),P(sum)"}, {0, 2}, {11, 12});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(first->matches_layouts);
  EXPECT_EQ(first->call.inputs[0]->shape, (Dims{4, 5}));
  EXPECT_EQ(first->call.inputs[0]->strides, (Dims{5, 1}));
  EXPECT_EQ(first->outputs[0]->meta.shape, (Dims{4}));
  EXPECT_EQ(first->location.coordinate, (Dims{0, 2}));
  EXPECT_EQ(first->location.tags, (std::vector<uint64_t>{11, 12}));
  EXPECT_EQ(first->location.inputs[0].global_shape, (Dims{7, 5}));
  EXPECT_EQ(first->location.inputs[0].map.dims[0][0], (Interval{0, 4}));
  EXPECT_EQ(first->location.outputs[0].placements[1], Placement::make_partial("sum"));
}

TEST_F(LocalCallTest, RefusalsOfTheLocalCallAreErrors) {
  EXPECT_TRUE(
      fails_with(localize(op("x.first_dim"), "f64[7,5]", mesh_, {"S(0),R"}, {"S(0),R"}, {1, 0}),
                 "x.first_dim: three rows are not for this kernel"));
}

TEST_F(LocalCallTest, ShapesThatDisagreeAreSaidNotRefused) {
  const Result<LocalCall> local =
      localize(op("x.first_dim"), "f64[8,5]", mesh_, {"S(0),R"}, {"R,R"}, {0, 0});
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_FALSE(local->matches_layouts);
}

TEST_F(LocalCallTest, SizeAttributesBecomeLocal) {
  const Result<LocalCall> local = localize(op("x.full_like"), "f64[4,6]; size=[-1,6]; extra=9",
                                           mesh_, {"S(0),S(1)", ""}, {"S(0),S(1)"}, {1, 2});
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_TRUE(local->matches_layouts);
  EXPECT_EQ(format_value(*local->call.attribute("size")), "[2,2]");
  EXPECT_EQ(*local->call.attribute("extra"), Value{int64_t{9}});
  EXPECT_FALSE(local->call.inputs[1].has_value());
  EXPECT_EQ(local->location.inputs[1].placements, std::vector<Placement>(2, Placement::none()));
  const Result<LocalCall> last = localize(op("x.full_like"), "f64[4,6]; size=[4,-1]; extra=9",
                                          mesh_, {"R,R", ""}, {"R,S(2)"}, {1, 2});
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_TRUE(last->matches_layouts);
  EXPECT_EQ(*last->call.attribute("extra"), Value{int64_t{3}});
  EXPECT_TRUE(op("x.full_like").depends_on_output_placement());
}

TEST_F(LocalCallTest, SizeAttributesThatDescribeNoDimAreRefused) {
  EXPECT_TRUE(
      localize(op("x.full_like"), "f64[4,6]; size=[4]", mesh_, {"R,R", ""}, {"R,R"}, {0, 0}).ok());
  pack_.ops[0].sizes = {{tiny::text_of("size"), 0, 1}};
  const Registry registry = tiny::commit(pack_);
  EXPECT_TRUE(
      fails_with(localize(*registry.find("x.full_like"), "f64[4,6]; size=[4,6]", mesh_, {"R,R", ""},
                          {"R,R"}, {0, 0}),
                 "size attribute \"size\" has 2 sizes from dim 1 on, but output 0 has 2 dims"));
}

TEST_F(LocalCallTest, WrittenTensorsHaveOneLayout) {
  EXPECT_TRUE(localize(op("x.first_dim_"), "f64[8]", mesh_, {"S(0),R"}, {"S(0),R"}, {0, 0}).ok());
  EXPECT_TRUE(localize(op("x.first_dim_"), "f64[1]", mesh_, {"R,R"}, {"R,R"}, {0, 0}).ok());
  EXPECT_TRUE(fails_with(localize(op("x.first_dim_"), "f64[8]", mesh_, {"S(0),R"}, {"R,R"}, {0, 0}),
                         "output 0 is written into input 0, so their layouts must be equal"));
  EXPECT_TRUE(
      fails_with(localize(op("x.first_dim_"), "f64[8]", mesh_, {"P(sum),R"}, {"R,R"}, {0, 0}),
                 "must be equal"));
}

TEST_F(LocalCallTest, ChecksItsArguments) {
  const auto local = [&](std::vector<std::string> inputs, Dims coordinate,
                         std::vector<uint64_t> tags) {
    return localize(op("x.first_dim"), "f64[8]", mesh_, std::move(inputs), {"R,R"},
                    std::move(coordinate), std::move(tags));
  };
  EXPECT_TRUE(
      fails_with(local({}, {0, 0}, {0, 0}), "0 input and 1 output layouts for 1 and 1 slots"));
  EXPECT_TRUE(
      fails_with(local({"R,R"}, {0, 0}, {0}), "1 tags and a coordinate of 2 for a mesh of 2 dims"));
  EXPECT_TRUE(
      fails_with(local({"R,R"}, {0, 3}, {0, 0}), "coordinate [0,3] is not in mesh a=2,b=3"));
  EXPECT_TRUE(fails_with(local({"S(1),R"}, {0, 0}, {0, 0}),
                         "S(1) of input 0 names a dim that f64[8] does not have"));
  EXPECT_TRUE(fails_with(local({""}, {0, 0}, {0, 0}), "the layout of input 0 has 0 placements"));
}

TEST(LocalCallLocation, KernelsSeeWhereTheyAre) {
  TinyPack pack;
  TinyOp& op = pack.op("x.where(Tensor x, Tensor? y=None) -> Tensor");
  op.infer = tiny::infer_same;
  op.flags = ONEDIM_OP_POSITION_AWARE;
  pack.kernel("x.where").compute = [](const auto*, const onedim_call_t* call, const auto*) {
    const onedim_location_t& place = *call->location;
    EXPECT_EQ(place.mesh_ndim, 2);
    EXPECT_EQ(place.mesh_shape[1], 3);
    EXPECT_EQ(place.coordinate[1], 2);
    EXPECT_EQ(place.tags[0], 11u);
    EXPECT_EQ(place.inputs[0].placements[0].kind, ONEDIM_PLACEMENT_STRIDED_SHARD);
    EXPECT_EQ(place.inputs[0].placements[0].split_factor, 2);
    EXPECT_EQ(place.inputs[1].placements[1].kind, ONEDIM_PLACEMENT_NONE);
    EXPECT_EQ(place.outputs[0].global_shape[0], 8);
    const onedim_slot_location_t& slot = place.inputs[0];
    EXPECT_EQ(slot.interval_begins[1], 2u);
    EXPECT_EQ(slot.intervals[1].begin, 6);
    for (int64_t i = 0; i < 4; ++i)
      tiny::set(call->outputs[0], i, static_cast<double>(slot.intervals[i / 2].begin));
    return ONEDIM_OK;
  };
  const Registry registry = tiny::commit(pack);
  const Op& where = *registry.find("x.where");
  EXPECT_TRUE(where.is_position_aware());
  const Mesh mesh = *Mesh::parse("a=2,b=3");
  const Result<LocalCall> local =
      localize(where, "f64[8]", mesh, {"SS(0,2),R", ""}, {"SS(0,2),R"}, {1, 2}, {11, 0});
  ASSERT_TRUE(local.ok()) << local.status();
  Tensor x = Tensor::zeros(DType::kF64, {4});
  Tensor y = Tensor::zeros(DType::kF64, {4});
  Tensor* const inputs[] = {&x, nullptr};
  Tensor* const outputs[] = {&y};
  ASSERT_TRUE(where.compute(local->call, inputs, outputs, &local->location).ok());
  EXPECT_EQ(tiny::values_of(y), (std::vector<double>{2, 2, 6, 6}));
}

TEST(LocalCallLocation, OpsThatAreNotPositionAwareAreToldNothing) {
  TinyPack pack;
  TinyOp& op = pack.op("x.blind(Tensor x) -> Tensor");
  op.infer = [](const onedim_host_t* host, const onedim_call_t* call, onedim_sink_t* sink) {
    EXPECT_EQ(call->location, nullptr);
    return tiny::infer_same(host, call, sink);
  };
  op.accept = [](const onedim_host_t*, const onedim_call_t* call) -> int32_t {
    EXPECT_EQ(call->location, nullptr);
    return ONEDIM_OK;
  };
  pack.kernel("x.blind").compute = [](const auto*, const onedim_call_t* call, const auto*) {
    EXPECT_EQ(call->location, nullptr);
    tiny::set(call->outputs[0], 0, call->location == nullptr ? 1.0 : 2.0);
    return ONEDIM_OK;
  };
  pack.op("x.blind_(Tensor(a!) x) -> Tensor(a!)").variant_of = "x.blind";
  const Registry registry = tiny::commit(pack);
  const Mesh mesh = *Mesh::parse("a=2");
  for (const char* name : {"x.blind", "x.blind_"}) {
    const Op& blind = *registry.find(name);
    const Result<LocalCall> local = localize(blind, "f64[2]", mesh, {"S(0)"}, {"S(0)"}, {1}, {7});
    ASSERT_TRUE(local.ok()) << local.status();
    Tensor x = Tensor::zeros(DType::kF64, {1});
    Tensor y = Tensor::zeros(DType::kF64, {1});
    Tensor* const inputs[] = {&x};
    Tensor* const outputs[] = {&y};
    ASSERT_TRUE(blind.compute(local->call, inputs, outputs, &local->location).ok());
    EXPECT_EQ(tiny::values_of(y), std::vector<double>{1});
  }
}

}  // namespace
}  // namespace onedim
