// put and masked_scatter: the items of source, counted row-major, go to places of self that the
// index counts row-major, or to those where the mask is true, in row-major order.
//
//   put:            out[index[i]] = source[i]           self [4,6] counts as 24, -1 is the last
//   masked_scatter: out[p_i] = source[i]                p_i the i-th place where the mask is true
//
// The i-th true place is known only to a rank that has the whole mask.

#include "acceptance.hpp"
#include "families.hpp"
#include "updating.hpp"

namespace indexing {
namespace {

void check_source_dtype(const Call& call) {
  const TensorView self = call.tensor("self"), source = call.tensor("source");
  require(source.present(), "there is no source");
  if (source.dtype() != self.dtype()) {
    fail(std::string("source is ") + name_of(source.dtype()) + ", expected self's " +
         name_of(self.dtype()));
  }
}

IndexSpace put_space(const Call& call) {
  IndexSpace space;
  const Part index = input_part(call, "index");
  space.sizes = global_shape(call, index);
  space.indices.push_back({parallel(call, index, space.sizes.size()), false, {}});
  space.items = input_part(call, "source");
  if (global_shape(call, space.items) == space.sizes)
    space.items = parallel(call, space.items, space.sizes.size());
  else
    space.items.is_linear = true;
  space.table = output_part();
  space.wraps_negative = space.is_linear = true;
  return space;
}

Update put_update(const Call& call) {
  const bool adds = call.attribute<bool>("accumulate");
  return {adds ? Combine::kAdd : Combine::kReplace, adds, input_part(call, "self")};
}

void infer_put(const Call& call, OutputSink& outputs) {
  require_index(call.tensor("index"), IndexDTypes::kI64);
  check_source_dtype(call);
  const int64_t places = volume(global_shape(call, input_part(call, "index")));
  const int64_t items = volume(global_shape(call, input_part(call, "source")));
  if (places != items) {
    fail("source has " + std::to_string(items) + " elements, expected one for each of the " +
         std::to_string(places) + " indices");
  }
  outputs.add(call.tensor("self").dtype(), shape_of(call.tensor("self")));
}

Shape masked_shape(const Call& call) {
  return broadcast(global_shape(call, input_part(call, "self")),
                   global_shape(call, input_part(call, "mask")));
}

IndexSpace masked_space(const Call& call) {
  IndexSpace space;
  space.sizes = {kUnknownSize};
  IndexPart mask{input_part(call, "mask"), true, masked_shape(call)};
  mask.dims = {0};
  if (mask.expanded.empty()) space.coordinates.push_back({-1, -1, 0, -1});
  for (int dim = 0; dim < static_cast<int>(mask.expanded.size()); ++dim)
    space.coordinates.push_back({dim, 0, dim, -1});
  space.indices.push_back(std::move(mask));
  space.items = input_part(call, "source");
  space.items.is_linear = true;
  space.table = output_part();
  return space;
}

Update masked_update(const Call& call) {
  return {Combine::kReplace, false, input_part(call, "self")};
}

// Last dims in which the mask is broadcast: every true element covers them whole, so a source that
// has them too holds an item at the place in them where it goes.
//   self [3,4], mask [3,1], source [3,4]: out[p_t, k] = source[t, k]
int covered_dims(const Call& call) {
  const Shape mask = global_shape(call, input_part(call, "mask")), out = masked_shape(call);
  const Shape self = global_shape(call, input_part(call, "self"));
  const Shape source = global_shape(call, input_part(call, "source"));
  size_t count = 0;
  while (count < std::min(self.size(), source.size())) {
    const int64_t size = out[out.size() - count - 1];
    const bool is_covered = count >= mask.size() || mask[mask.size() - count - 1] == 1;
    if (!is_covered || source[source.size() - count - 1] != size ||
        self[self.size() - count - 1] != size)
      break;
    ++count;
  }
  return static_cast<int>(count);
}

struct CoveredDim {
  PartDim self, source, out;
};
std::vector<CoveredDim> covered(const Call& call) {
  std::vector<CoveredDim> list;
  const Part self = input_part(call, "self"), source = input_part(call, "source");
  for (int back = 1; back <= covered_dims(call); ++back) {
    list.push_back({{self, tensor_of(call, self).ndim() - back},
                    {source, tensor_of(call, source).ndim() - back},
                    {output_part(), call.output().ndim() - back}});
  }
  return list;
}

void covered_rules(const Call& call, RuleSink& rules) {
  for (const CoveredDim& dims : covered(call)) {
    if (call.output().size(dims.out.dim) < 2) continue;
    rules.add_named(any_shard(dims.out.dim),
                    {{"self", any_shard(dims.self.dim)}, {"source", any_shard(dims.source.dim)}});
  }
}

// Local lengths are self's where it has the dim.
void infer_masked(const Call& call, OutputSink& outputs) {
  const Part of_self = input_part(call, "self");
  const TensorView self = call.tensor("self"), mask = call.tensor("mask");
  require(mask.present() && is_bool(mask.dtype()), "the mask must be a bool tensor");
  check_source_dtype(call);
  Shape shape = masked_shape(call);
  for (int dim = 1; dim <= self.ndim(); ++dim) {
    int64_t& size = shape[shape.size() - static_cast<size_t>(dim)];
    if (global_size(call, of_self, self.ndim() - dim) == size) size = self.size(self.ndim() - dim);
  }
  outputs.add(self.dtype(), shape);
}

}  // namespace

void declare_linear(Registrar& r) {
  updating(r.op("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor"),
           put_space, put_update)
      .summary("self with the elements of source at the row-major places that index holds")
      .infer(infer_put)
      .samples({"f64[5]; i64[7]:index(5); f64[7]",
                "f64[4,3]; i64[2,5]:index(3); f64[2,5]; accumulate=true",
                "i64[3,4]; i64[6]:index(4); i64[2,3]",
                "bool[6]; i64[4]:index(6); bool[4]; accumulate=true",
                "c64[4,1]; i64[3]:index(4); c64[3]; accumulate=true"})
      .gradient({"take"})
      .in_place()
      .out("put.out");
  updating(r.op("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor"), masked_space,
           masked_update)
      .summary("self with the elements of source, one after the other, where the mask is true")
      .infer(infer_masked)
      .rules(covered_rules)
      .accept_local([](const Call& call) {
        for (const CoveredDim& dims : covered(call)) accept_meeting(call, {dims.out, dims.source});
      })
      .samples({"f64[5,3]; bool[5,3]; f64[5,3]", "f32[4,6]; bool[6]; f32[4,6]",
                "i64[3,4]; bool[3,1]; i64[3,4]", "f64[3]; bool[4,3]; f64[4,3]",
                "c64[5]; bool[5]; c64[5,2]", "bool[4,2]; bool[4,2]; bool[4,2]"})
      .in_place()
      .out("masked_scatter.out");
}

}  // namespace indexing
