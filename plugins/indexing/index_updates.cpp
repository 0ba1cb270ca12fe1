// index_add, index_copy, index_fill and index_reduce: slices of source, or one number, go to the
// slices of self that an index vector names.
//
//   index_add: out = self;  out[index[i], k] += alpha source[i,k]     dim 0, index [3], source
//   [3,6]

#include "families.hpp"
#include "spaces.hpp"
#include "updating.hpp"

namespace indexing {
namespace {

Part items_of(const Call& call) {
  for (const char* name : {"source", "value"}) {
    if (const Part part = input_part(call, name); part.present()) return part;
  }
  return {};
}

IndexSpace update_space(const Call& call) {
  return slice_space(call, output_part(), items_of(call));
}

// Of these ops only a fill counts negative places from the end.
IndexSpace fill_space(const Call& call) {
  IndexSpace space = update_space(call);
  space.wraps_negative = true;
  return space;
}

void check_source(const Call& call) {
  const Part source = input_part(call, "source"), self = input_part(call, "self");
  require(source.present(), "there is no source");
  const DType own = tensor_of(call, self).dtype(), given = tensor_of(call, source).dtype();
  if (own != given) {
    fail(std::string("source is ") + name_of(given) + ", expected self's " + name_of(own));
  }
  Shape expected = global_shape(call, self), shape = global_shape(call, source);
  if (expected.empty()) expected = {1};
  if (shape.empty()) shape = {1};
  expected[static_cast<size_t>(dim_argument(call, tensor_of(call, self)))] = index_count(call);
  if (shape != expected) {
    fail("source is " + format_shape(shape) + ", expected a slice of self for each of the " +
         std::to_string(index_count(call)) + " indices, " + format_shape(expected));
  }
}

Update copying(const Call& call) { return {Combine::kReplace, false, input_part(call, "self")}; }

Update filling(const Call& call) {
  Update update = copying(call);
  if (!call.has_tensor("value")) update.number = call.find_attribute("value");
  return update;
}

Update adding(const Call& call) {
  Update update{Combine::kAdd, true, input_part(call, "self")};
  update.scale = call.attribute<std::complex<double>>("alpha");
  return update;
}

Update reducing(const Call& call) {
  const auto name = call.attribute<std::string_view>("reduce");
  Update update{Combine::kMultiply, call.attribute<bool>("include_self"), input_part(call, "self")};
  if (name == "mean") update.combine = Combine::kMean;
  if (name == "amax") update.combine = Combine::kMax;
  if (name == "amin") update.combine = Combine::kMin;
  if (name != "prod" && update.combine == Combine::kMultiply)
    fail("reduce is \"" + std::string(name) + "\", expected one of prod, mean, amax, amin");
  return update;
}

using CheckFn = void (*)(const Call&);

OpBuilder& declare(Registrar& r, std::string_view schema, SpaceFn space_of, UpdateFn update_of,
                   IndexDTypes dtypes, CheckFn check) {
  return updating(r.op(schema), space_of, update_of)
      .infer([update_of, dtypes, check](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self");
        check_slices(call, dtypes);
        check(call);
        check_update(update_of(call), self.dtype());
        outputs.add(self.dtype(), shape_of(self));
      })
      .in_place();
}

// A number that self's dtype cannot hold.
void check_value(const Call& call) {
  const onedim_value_t* number = call.find_attribute("value");
  const bool is_tensor = call.has_tensor("value");
  const DType dtype = call.tensor("self").dtype();
  if (is_tensor && call.tensor("value").ndim() != 0) {
    fail("value has " + std::to_string(call.tensor("value").ndim()) + " dims, expected none");
  }
  require(is_tensor || number != nullptr, "there is no value");
  const DType given = is_tensor ? call.tensor("value").dtype() : number_dtype(*number);
  require(!is_complex(given) || is_complex(dtype), "a complex value does not fit a real self");
}

void declare_fill(Registrar& r) {
  declare(r, "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
          fill_space, filling, IndexDTypes::kI64, check_value)
      .summary("self with a number in the slices that index names")
      .samples({"f64[5,7]; i64[3]:index(5); dim=0; value=3.0",
                "f32[4,6]; i64[7]:index(6); dim=-1; value=0",
                "i64[5,2]; i64[3]:index(5); dim=0; value=1",
                "bool[6]; i64[2]:index(6); dim=0; value=true",
                "c64[4,3]; i64[]:index(3); dim=1; value=2"})
      .out("index_fill.int_Scalar_out");
  declare(r, "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
          fill_space, filling, IndexDTypes::kI64, check_value)
      .summary("self with the value of a 0-dim tensor in the slices that index names")
      .samples(
          {"f64[5,7]; i64[3]:index(5); f64[]; dim=0", "f32[4,6]; i64[7]:index(6); f32[]; dim=-1",
           "i64[5,2]; i64[3]:index(5); i64[]; dim=0", "bool[6]; i64[2]:index(6); bool[]; dim=0",
           "c64[4,3]; i64[2]:index(3); c64[]; dim=1"})
      .out("index_fill.int_Tensor_out");
}

void declare_add(Registrar& r) {
  declare(
      r,
      "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
      update_space, adding, IndexDTypes::kI64OrI32, check_source)
      .summary("self with alpha times the slices of source added to those that index names")
      .samples({"f64[5,7]; i64[3]:index(5); f64[3,7]; dim=0",
                "f64[4,6]; i64[7]:index(6); f64[4,7]; dim=1; alpha=-2",
                "i64[3,1,4]; i32[5]:index(3); i64[5,1,4]; dim=0; alpha=3",
                "bool[6]; i64[4]:index(6); bool[4]; dim=0",
                "c64[4]; i64[3]:index(4); c64[3]; dim=0",
                "f32[4,3]; i64[1]:index(4); f32[1,3]; dim=0; alpha=-1",
                "f16[5]; i64[3]:index(5); f16[3]; dim=0"})
      .gradient({"index_select"})
      .out("index_add.out");
}

void declare_copy(Registrar& r) {
  declare(r, "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
          update_space, copying, IndexDTypes::kI64, check_source)
      .summary("self with the slices of source in those that index names")
      .samples({"f64[5,7]; i64[3]:index(5); f64[3,7]; dim=0",
                "f32[4,6]; i64[7]:index(6); f32[4,7]; dim=-1",
                "i64[3,1,4]; i64[5]:index(3); i64[5,1,4]; dim=0",
                "bool[6]; i64[4]:index(6); bool[4]; dim=0",
                "c64[4,2]; i64[1]:index(4); c64[1,2]; dim=0"})
      .gradient({"index_select", "index_fill.int_Scalar"})
      .out("index_copy.out");
}

void declare_reduce(Registrar& r) {
  declare(r,
          "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
          "include_self=True) -> Tensor",
          update_space, reducing, IndexDTypes::kI64OrI32, check_source)
      .summary("self with the slices of source folded into those that index names")
      .samples({"f64[5,3]; i64[4]:index(5); f64[4,3]; dim=0; reduce=\"prod\"",
                "f64[4,5]; i64[6]:index(5); f64[4,6]; dim=1; reduce=\"mean\"",
                "f32[5]; i64[6]:index(5); f32[6]; dim=0; reduce=\"amax\"; include_self=false",
                "i64[5]; i32[6]:index(5); i64[6]; dim=0; reduce=\"amin\"",
                "f64[4,3]; i64[1]:index(4); f64[1,3]; dim=0; reduce=\"mean\"",
                "i32[4,3]; i64[5]:index(4); i32[5,3]; dim=0; reduce=\"mean\"; include_self=false",
                "u8[4,3]; i64[1]:index(4); u8[1,3]; dim=0; reduce=\"amax\"; include_self=false"})
      .out("index_reduce.out");
}

}  // namespace

void declare_index_updates(Registrar& r) {
  declare_fill(r);
  declare_add(r);
  declare_copy(r);
  declare_reduce(r);
}

}  // namespace indexing
