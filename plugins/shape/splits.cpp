// One dim split into parts, one output each: y_k[i] = x[o_k + i]. Other dims take any shard, which
// all outputs have; the split one must be whole, unless there is but one part.
//   split.Tensor f32[5,4] by 2 gives f32[2,4], f32[2,4], f32[1,4]: S*(1), S*(1), S*(1) | S*(1)

#include <limits>

#include "box.hpp"
#include "families.hpp"

namespace shape {
namespace {

// The dim, and the lengths of its parts.
struct Parts {
  int dim = 0;
  Shape lengths;
};
using PartsFn = Parts (*)(const Call& call);

int split_dim(const Call& call) {
  require(call.input(0).ndim() > 0, "a 0-dim tensor has no dim to split");
  return wrap_dim(call.attribute<int64_t>("dim"), call.input(0).ndim());
}

// Each part is a tensor of its own: a call of more is a mistake, and would take all memory.
constexpr int64_t kMostParts = 65536;

void check_part_count(int64_t count, int dim) {
  if (count <= kMostParts) return;
  fail(std::to_string(count) + " parts of dim " + std::to_string(dim) + " are more than the " +
       std::to_string(kMostParts) + " that are supported");
}

Parts parts_of_size(int dim, int64_t length, int64_t size) {
  if (size < 0) fail("split_size is " + std::to_string(size) + ", expected a size");
  if (size == 0 && length != 0) {
    fail("split_size 0 splits only a dim of size 0, not of " + std::to_string(length));
  }
  if (size > 0) check_part_count(length / size, dim);
  Parts parts{dim, {}};
  for (int64_t begin = 0; begin < length; begin += size)
    parts.lengths.push_back(std::min(size, length - begin));
  if (parts.lengths.empty()) parts.lengths.push_back(0);
  return parts;
}

Parts split_parts(const Call& call) {
  const int dim = split_dim(call);
  return parts_of_size(dim, call.input(0).size(dim), call.attribute<int64_t>("split_size"));
}

Parts listed_parts(const Call& call) {
  const int dim = split_dim(call);
  Parts parts{dim, call.attribute<std::vector<int64_t>>("split_sizes")};
  int64_t total = 0;
  for (int64_t length : parts.lengths) {
    if (length < 0) fail("split_sizes has the negative size " + std::to_string(length));
    if (length > std::numeric_limits<int64_t>::max() - total)
      fail("split_sizes add up to more than a size can be");
    total += length;
  }
  if (total != call.input(0).size(dim)) {
    fail("split_sizes add up to " + std::to_string(total) + ", but dim " + std::to_string(dim) +
         " has size " + std::to_string(call.input(0).size(dim)));
  }
  return parts;
}

Parts chunk_parts(const Call& call) {
  const int dim = split_dim(call);
  const int64_t chunks = call.attribute<int64_t>("chunks"), length = call.input(0).size(dim);
  if (chunks <= 0) fail("chunks is " + std::to_string(chunks) + ", expected a positive number");
  if (length == 0) {
    check_part_count(chunks, dim);
    return {dim, Shape(static_cast<size_t>(chunks), 0)};
  }
  return parts_of_size(dim, length, length / chunks + (length % chunks != 0));
}

Parts single_rows(const Call& call) {
  const int dim = split_dim(call);
  check_part_count(call.input(0).size(dim), dim);
  return {dim, Shape(static_cast<size_t>(call.input(0).size(dim)), 1)};
}

void infer_parts(const Call& call, OutputSink& outputs, const Parts& parts, bool keeps_dim,
                 bool is_view) {
  const TensorView self = call.input(0);
  int64_t begin = 0;
  for (int64_t length : parts.lengths) {
    Output part = shared_view(self, shape_of(self), strides_of(self));
    part.storage_offset = self.element_count() > 0 ? begin * self.stride(parts.dim) : 0;
    part.shape[parts.dim] = length;
    if (!keeps_dim) {
      part.shape.erase(part.shape.begin() + parts.dim);
      part.strides.erase(part.strides.begin() + parts.dim);
    }
    if (is_view)
      outputs.add(part);
    else
      outputs.add(self.dtype(), part.shape);
    begin += length;
  }
}

// A dim that is one part may be cut where the parts are told by their size, not by their number.
OpBuilder& declare_split(Registrar& r, std::string_view schema, PartsFn parts,
                         bool keeps_dim = true, bool is_view = true) {
  return r.op(schema)
      .infer([=](const Call& call, OutputSink& outputs) {
        infer_parts(call, outputs, parts(call), keeps_dim, is_view);
      })
      .rules([=](const Call& call, RuleSink& rules) {
        const int dim = split_dim(call);
        const bool is_one =
            call.output_count() == 1 && keeps_dim && !call.has_attribute("split_sizes");
        std::vector<int> from;
        for (int i = 0; i < call.input(0).ndim(); ++i) {
          if (i != dim || keeps_dim) from.push_back(i != dim || is_one ? i : -1);
        }
        kept_dims_rules(call, rules, from);
      })
      .families(passes_all("self"))
      .compute(kAllDTypes, [parts](const Call& call, const onedim_execution_t&) {
        Box from = box_of(call.input(0));
        const Parts split = parts(call);
        for (size_t i = 0; i < split.lengths.size(); ++i) {
          from.sizes[split.dim] = split.lengths[i];
          copy_box(from, box_of(call.output(static_cast<int>(i))));
          from.data += split.lengths[i] * from.strides[split.dim] * from.item;
        }
      });
}

}  // namespace

void declare_splits(Registrar& r) {
  declare_split(r, "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
                split_parts)
      .summary("views of split_size rows each along one dim, the last of what is left")
      .samples({"f64[5,7]; split_size=3; dim=1", "f32[6]; split_size=2",
                "i64[3,4]; split_size=4; dim=-1", "bool[4,5]; split_size=3",
                "c64[2,3,1]; split_size=1; dim=0"});
  const std::initializer_list<std::string_view> lists = {
      "f64[5,7]; split_sizes=[3,4]; dim=1", "f32[6]; split_sizes=[1,3,2]",
      "i64[3,4]; split_sizes=[4]; dim=-1", "bool[4,5]; split_sizes=[3,0,1]",
      "c64[2,3,1]; split_sizes=[1,1]"};
  declare_split(r,
                "split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> "
                "Tensor(a)[]",
                listed_parts)
      .summary("views of the rows along one dim, as many each as split_sizes says")
      .samples(lists);
  declare_split(r,
                "split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
                listed_parts, true, false)
      .summary("copies of the rows along one dim, as many each as split_sizes says")
      .samples(lists);
  declare_split(r, "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", chunk_parts)
      .summary("at most `chunks` views of equal length along one dim, the last of what is left")
      .samples({"f64[5,7]; chunks=3; dim=1", "f32[6]; chunks=2", "i64[3,4]; chunks=1; dim=-1",
                "bool[4,5]; chunks=3", "c64[2,3,1]; chunks=5"});
  declare_split(r, "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", single_rows, false)
      .summary("the rows of one dim, each a view without the dim")
      .samples({"f64[3,7]; dim=0", "f32[4]", "i64[5,2]; dim=-1", "bool[1,5]", "c64[2,3,2]; dim=1"});
}

}  // namespace shape
