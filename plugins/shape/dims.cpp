// Views that move, add and drop whole dims: y[i] = x[p(i)] with p a choice of dims. Output dim d
// that is input dim e takes any shard of e. Squeezing goes by the global size: a shard of one row
// stays.
//   permute f32[4,6] by [1,0]: S*(1) | S*(0), S*(0) | S*(1)

#include <numeric>

#include "families.hpp"

namespace shape {
namespace {

// Which dims of the input the output has, in its order; -1 is a new dim of size 1.
using DimList = std::vector<int>;
using DimsFn = DimList (*)(const Call& call);

DimList all_dims(const Call& call) {
  DimList dims(static_cast<size_t>(call.input(0).ndim()));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

DimList permuted_dims(const Call& call) {
  const int ndim = call.input(0).ndim();
  const auto order = call.attribute<std::vector<int64_t>>("dims");
  if (static_cast<int>(order.size()) != ndim) {
    fail("dims has " + std::to_string(order.size()) + " entries, expected one for each of the " +
         std::to_string(ndim) + " dims of self");
  }
  if (ndim > 0) dim_mask(order, ndim);  // refuses repeated dims
  DimList dims;
  for (int64_t dim : order) dims.push_back(wrap_dim(dim, ndim));
  return dims;
}

DimList swapped(const Call& call, int64_t a, int64_t b) {
  DimList dims = all_dims(call);
  const int first = wrap_dim(a, call.input(0).ndim()), second = wrap_dim(b, call.input(0).ndim());
  if (!dims.empty()) std::swap(dims[first], dims[second]);
  return dims;
}

DimList transposed_dims(const Call& call) {
  return swapped(call, call.attribute<int64_t>("dim0"), call.attribute<int64_t>("dim1"));
}

DimList matrix_transposed_dims(const Call& call) {
  require(call.input(0).ndim() <= 2, "t needs a tensor of at most two dims");
  return call.input(0).ndim() < 2 ? all_dims(call) : swapped(call, 0, 1);
}

DimList unsqueezed_dims(const Call& call) {
  DimList dims = all_dims(call);
  const int at = wrap_dim(call.attribute<int64_t>("dim"), call.input(0).ndim() + 1);
  dims.insert(dims.begin() + at, -1);
  return dims;
}

// Without the dims of global size 1 that `mask` names: a shard of one row stays.
DimList squeezed_dims(const Call& call, const std::vector<bool>& mask) {
  DimList dims;
  for (int dim = 0; dim < call.input(0).ndim(); ++dim) {
    if (!mask[dim] || call.global_size(false, 0, dim) != 1) dims.push_back(dim);
  }
  return dims;
}

DimList squeezed_everywhere(const Call& call) {
  return squeezed_dims(call, std::vector<bool>(static_cast<size_t>(call.input(0).ndim()), true));
}

DimList squeezed_as_asked(const Call& call) {
  const auto asked = call.attribute<std::vector<int64_t>>("dim");
  const int ndim = call.input(0).ndim();
  return squeezed_dims(call,
                       asked.empty() ? std::vector<bool>(ndim, false) : dim_mask(asked, ndim));
}

OpBuilder& declare_dim_view(Registrar& r, const std::string& schema, DimsFn dims) {
  return r.op(schema)
      .infer([dims](const Call& call, OutputSink& outputs) {
        const TensorView self = call.input(0);
        Shape sizes, strides;
        for (int dim : dims(call)) {
          // A new dim steps over the dim behind it, as ATen has it.
          sizes.push_back(dim < 0 ? 1 : self.size(dim));
          strides.push_back(dim < 0 ? -1 : self.stride(dim));
        }
        for (size_t dim = sizes.size(); dim-- > 0;) {
          const bool is_last = dim + 1 == sizes.size();
          if (strides[dim] < 0) strides[dim] = is_last ? 1 : sizes[dim + 1] * strides[dim + 1];
        }
        outputs.add(shared_view(self, std::move(sizes), std::move(strides)));
      })
      .rules(
          [dims](const Call& call, RuleSink& rules) { kept_dims_rules(call, rules, dims(call)); })
      .families(passes_all("self"))
      .compute(kAllDTypes, no_work);
}

// A form in place changes how self is seen, not what it holds: like the plain form it gives a view,
// which takes self's name.
void declare_forms(Registrar& r, std::initializer_list<std::string_view> names,
                   std::string_view arguments, DimsFn dims,
                   const std::function<void(OpBuilder&)>& describe) {
  for (std::string_view name : names) {
    const std::string schema = std::string(name) + std::string(arguments) + " -> Tensor(a)";
    describe(declare_dim_view(r, schema, dims));
  }
}

void declare_permutations(Registrar& r) {
  declare_forms(r, {"permute"}, "(Tensor(a) self, int[] dims)", permuted_dims, [](OpBuilder& op) {
    op.summary("self with its dims in another order, without a copy")
        .samples({"f32[4,6]; dims=[1,0]", "f64[2,3,5]; dims=[2,0,1]", "i64[5,7]; dims=[0,-1]",
                  "bool[1,4]; dims=[-1,0]", "c64[3,1,4]; dims=[1,2,0]"});
  });
  declare_forms(r, {"transpose.int", "transpose_"}, "(Tensor(a) self, int dim0, int dim1)",
                transposed_dims, [](OpBuilder& op) {
                  op.summary("self with two dims swapped, without a copy")
                      .samples({"f32[4,6]; dim0=0; dim1=1", "f64[2,3,5]; dim0=-1; dim1=0",
                                "i64[5,7]; dim0=1; dim1=1", "bool[1,4]; dim0=0; dim1=1",
                                "f16[3,1,4]; dim0=1; dim1=2"});
                });
  declare_forms(r, {"t_"}, "(Tensor(a) self)", matrix_transposed_dims, [](OpBuilder& op) {
    op.summary("self with its two dims swapped, without a copy")
        .samples({"f32[4,6]", "f64[5,1]", "i64[5]", "bool[]", "c64[2,3]"});
  });
}

void declare_unit_dims(Registrar& r) {
  declare_forms(r, {"unsqueeze", "unsqueeze_"}, "(Tensor(a) self, int dim)", unsqueezed_dims,
                [](OpBuilder& op) {
                  op.summary("self with one more dim of size 1")
                      .samples({"f32[4,6]; dim=0", "f64[5]; dim=-1", "i64[5,7]; dim=1",
                                "bool[1,4]; dim=2", "c64[3,2]; dim=-2"});
                });
  declare_forms(r, {"squeeze", "squeeze_"}, "(Tensor(a) self)", squeezed_everywhere,
                [](OpBuilder& op) {
                  op.summary("self without its dims of size 1")
                      .position_aware()
                      .samples({"f32[4,1,6]", "f64[1,5]", "i64[5,7]", "bool[1,4,1]", "c64[1,1,3]"});
                });
  declare_forms(r, {"squeeze.dim", "squeeze_.dim"}, "(Tensor(a) self, int dim)", squeezed_as_asked,
                [](OpBuilder& op) {
                  op.summary("self without dim `dim`, if that has size 1")
                      .position_aware()
                      .samples({"f32[4,1,6]; dim=1", "f64[1,5]; dim=-1", "i64[5,7]; dim=0",
                                "bool[1,4,1]; dim=2", "bf16[3,1]; dim=-1"});
                });
  declare_forms(r, {"squeeze.dims", "squeeze_.dims"}, "(Tensor(a) self, int[] dim)",
                squeezed_as_asked, [](OpBuilder& op) {
                  op.summary("self without those of the dims `dim` that have size 1")
                      .position_aware()
                      .samples({"f32[4,1,6]; dim=[1]", "f64[1,5]; dim=[0,1]", "i64[5,1,1]; dim=[]",
                                "bool[1,4,1]; dim=[-1,0]", "f16[3,2]; dim=[1]"});
                });
}

}  // namespace

void declare_dims(Registrar& r) {
  declare_permutations(r);
  declare_unit_dims(r);
}

}  // namespace shape
