// scatter and its kin: the items of src, or one number, go to the places that index names.
//
//   scatter_add: out = self;  out[index[i,k], k] += src[i,k]      dim 0, index [3,5], self [4,6]
//
// src may be larger than index, self may be smaller or larger: only shards of equal lengths line
// up. Where several items meet in one element, scatter keeps the last in row-major order, and
// scatter_reduce folds them, with the old value or without it.

#include "families.hpp"
#include "spaces.hpp"
#include "updating.hpp"

namespace indexing {
namespace {

IndexSpace scatter_space(const Call& call) {
  return elementwise_space(call, output_part(), input_part(call, "src"));
}

void check_source(const Call& call) {
  const Part src = input_part(call, "src"), index = input_part(call, "index");
  const TensorView self = call.tensor("self");
  require(src.present(), "there is no src");
  if (tensor_of(call, src).dtype() != self.dtype()) {
    fail(std::string("src is ") + name_of(tensor_of(call, src).dtype()) + ", expected self's " +
         name_of(self.dtype()));
  }
  const Shape of_index = global_shape(call, index), of_src = global_shape(call, src);
  if (volume(of_index) == 0) return;
  bool fits = std::max<size_t>(1, of_index.size()) == std::max<size_t>(1, of_src.size());
  for (size_t dim = 0; fits && dim < std::min(of_index.size(), of_src.size()); ++dim)
    fits = of_index[dim] <= of_src[dim];
  if (!fits) {
    fail("src " + format_shape(of_src) + " does not hold an item for every place of the index " +
         format_shape(of_index));
  }
}

Combine combine_named(std::string_view name) {
  if (name == "sum" || name == "add") return Combine::kAdd;
  if (name == "prod" || name == "multiply") return Combine::kMultiply;
  if (name == "mean") return Combine::kMean;
  if (name == "amax") return Combine::kMax;
  if (name == "amin") return Combine::kMin;
  fail("reduce is \"" + std::string(name) + "\", which is no reduction");
}

void require_reduce(const Call& call, std::initializer_list<std::string_view> names) {
  const auto given = call.attribute<std::string_view>("reduce");
  if (std::find(names.begin(), names.end(), given) != names.end()) return;
  std::string expected;
  for (std::string_view name : names)
    expected += (expected.empty() ? "" : ", ") + std::string(name);
  fail("reduce is \"" + std::string(given) + "\", expected one of " + expected);
}

Update replacing(const Call& call) { return {Combine::kReplace, false, input_part(call, "self")}; }
Update adding(const Call& call) { return {Combine::kAdd, true, input_part(call, "self")}; }
Update reducing(const Call& call) {
  return {combine_named(call.attribute<std::string_view>("reduce")),
          !call.has_attribute("include_self") || call.attribute<bool>("include_self"),
          input_part(call, "self")};
}
Update with_value(const Call& call, Update update) {
  update.number = call.find_attribute("value");
  require(update.number != nullptr, "value must be a number");
  return update;
}
Update replacing_by_value(const Call& call) { return with_value(call, replacing(call)); }
Update reducing_by_value(const Call& call) { return with_value(call, reducing(call)); }

using CheckFn = void (*)(const Call&);

OpBuilder& declare(Registrar& r, std::string_view schema, UpdateFn update_of, CheckFn check) {
  return updating(r.op(schema), scatter_space, update_of)
      .infer([update_of, check](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self");
        check_elementwise(call, IndexDTypes::kI64OrI32);
        check(call);
        check_update(update_of(call), self.dtype());
        outputs.add(self.dtype(), shape_of(self));
      })
      .in_place();
}

void declare_scatter(Registrar& r) {
  declare(r, "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", replacing,
          check_source)
      .summary("self with the items of src at the places that index holds on dim")
      .samples({"f64[5,7]; i64[5,7]:index(5); f64[5,7]; dim=0",
                "f32[4,6]; i64[4,3]:index(6); f32[4,6]; dim=-1",
                "i64[3,4]; i64[2,4]:index(3); i64[5,4]; dim=0",
                "bool[4,3]; i64[5,3]:index(4); bool[5,3]; dim=0",
                "u8[6]; i32[4]:index(6); u8[4]; dim=0", "c64[5]; i64[3]:index(5); c64[3]; dim=0",
                "f16[4,3]; i64[1,3]:index(4); f16[2,3]; dim=0"})
      .gradient({"gather", "scatter.value"})
      .out("scatter.src_out");
  declare(r, "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
          replacing_by_value, [](const Call&) {})
      .summary("self with a number at the places that index holds on dim")
      .samples({"f64[5,7]; i64[5,7]:index(5); dim=0; value=2.5",
                "f64[4,6]; i64[4,3]:index(6); dim=1; value=0",
                "i64[3,4]; i64[2,4]:index(3); dim=-2; value=1",
                "bool[6]; i64[4]:index(6); dim=0; value=true",
                "f32[4,5]; i64[4,5]:index(5); dim=1; value=-1",
                "i32[5]; i32[3]:index(5); dim=0; value=0.5",
                "c64[4]; i64[3]:index(4); dim=0; value=1"})
      .out("scatter.value_out");
}

void declare_reducing(Registrar& r) {
  declare(r,
          "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
          reducing,
          [](const Call& call) {
            require_reduce(call, {"add", "multiply"});
            check_source(call);
          })
      .summary("self with the items of src added or multiplied at the places that index holds")
      .samples({"f64[5,7]; i64[5,7]:index(5); f64[5,7]; dim=0; reduce=\"add\"",
                "f64[4,3]; i64[4,3]:index(3); f64[4,3]; dim=1; reduce=\"multiply\"",
                "i64[3,4]; i64[2,4]:index(3); i64[5,4]; dim=0; reduce=\"multiply\"",
                "bool[4,3]; i64[5,3]:index(4); bool[5,3]; dim=0; reduce=\"add\"",
                "u8[4,3]; i64[1,3]:index(4); u8[2,3]; dim=0; reduce=\"multiply\"",
                "c64[4]; i64[3]:index(4); c64[3]; dim=0; reduce=\"add\""})
      .out("scatter.reduce_out");
  declare(
      r,
      "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> "
      "Tensor",
      reducing_by_value,
      [](const Call& call) {
        require_reduce(call, {"add", "multiply"});
      })
      .summary("self with a number added or multiplied at the places that index holds")
      .samples({"f64[5,7]; i64[5,7]:index(5); dim=0; value=2.5; reduce=\"add\"",
                "f64[4,3]; i64[4,3]:index(3); dim=1; value=-2; reduce=\"multiply\"",
                "f32[4,3]; i64[2,3]:index(4); dim=0; value=3; reduce=\"multiply\"",
                "i64[5]; i64[3]:index(5); dim=0; value=-2; reduce=\"add\"",
                "u8[4,3]; i64[1,3]:index(4); dim=0; value=2; reduce=\"multiply\"",
                "f64[5]; i64[3]:index(5); dim=0; value=0; reduce=\"multiply\"",
                "c64[4]; i64[3]:index(4); dim=0; value=2; reduce=\"multiply\""})
      .out("scatter.value_reduce_out");
  declare(r, "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", adding,
          check_source)
      .summary("self with the items of src added at the places that index holds on dim")
      .samples({"f64[5,7]; i64[5,7]:index(5); f64[5,7]; dim=0",
                "f64[4,6]; i64[4,3]:index(6); f64[4,6]; dim=-1",
                "i64[3,4]; i64[2,4]:index(3); i64[5,4]; dim=0",
                "bool[4,3]; i64[5,3]:index(4); bool[5,3]; dim=0",
                "f32[3,1,2]; i64[2,1,2]:index(3); f32[2,1,2]; dim=0",
                "c64[5]; i64[3]:index(5); c64[3]; dim=0",
                "f64[4,3]; i64[1,3]:index(4); f64[1,3]; dim=0",
                "bf16[5]; i64[6]:index(5); bf16[6]; dim=0",
                "u8[4,3]; i64[3,3]:index(4); u8[3,3]; dim=0"})
      .gradient({"gather"})
      .out("scatter_add.out");
}

void declare_scatter_reduce(Registrar& r) {
  declare(r,
          "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
          "include_self=True) -> Tensor",
          reducing,
          [](const Call& call) {
            require_reduce(call, {"sum", "prod", "mean", "amax", "amin"});
            check_source(call);
          })
      .summary("self with the items of src folded into the places that index holds")
      .samples({"f64[5,7]; i64[5,7]:index(5); f64[5,7]; dim=0; reduce=\"sum\"",
                "f64[4,3]; i64[5,3]:index(4); f64[5,3]; dim=0; reduce=\"sum\"; include_self=false",
                "f64[4,3]; i64[4,3]:index(3); f64[4,3]; dim=1; reduce=\"prod\"",
                "f64[5]; i64[4]:index(5); f64[4]; dim=0; reduce=\"prod\"; include_self=false",
                "f64[4,3]; i64[2,3]:index(4); f64[2,3]; dim=0; reduce=\"mean\"",
                "f32[5]; i64[6]:index(5); f32[6]; dim=0; reduce=\"mean\"; include_self=false",
                "i64[5]; i64[6]:index(5); i64[6]; dim=0; reduce=\"mean\"",
                "f64[4,3]; i64[2,3]:index(4); f64[5,3]; dim=0; reduce=\"amax\"",
                "i32[5]; i64[6]:index(5); i32[6]; dim=0; reduce=\"amin\"; include_self=false",
                "f32[5]; i64[4]:index(5); f32[4]; dim=0; reduce=\"amin\"",
                "bool[5]; i64[4]:index(5); bool[4]; dim=0; reduce=\"prod\""})
      .out("scatter_reduce.two_out");
}

}  // namespace

void declare_scatters(Registrar& r) {
  declare_scatter(r);
  declare_reducing(r);
  declare_scatter_reduce(r);
}

}  // namespace indexing
