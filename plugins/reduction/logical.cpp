// any and all: whether some (all) elements differ from zero. `or` over elements and over ranks
// commute, and so does `and`: a cut dim leaves P(max) of any, P(min) of all. A product is zero
// where one of its factors is, so `all` passes P(product); a sum of -1 and 1 is zero, so sums do
// not pass. The output is bool, or u8 for u8, where true is 1: there `and` is also a product.
//   any f64[4,6]: P(max) | S(0).  all f64[4,6]: P(min) | S(0);  P(min) | P(product);
//   no P(max) | S(0).  all.dim u8[4,6], dim 1: P(product) | S(1)

#include "families.hpp"

namespace reduction {
namespace {

template <typename Op>
std::vector<int64_t> fold_truth(const TensorView& self, const std::vector<bool>& reduced,
                                bool identity, Op op) {
  struct Truth {
    bool value;
    explicit Truth(bool truth) : value(truth) {}
    explicit Truth(float x) : value(x != 0) {}
    explicit Truth(double x) : value(x != 0) {}
    explicit Truth(int64_t x) : value(x != 0) {}
    explicit Truth(std::complex<float> x) : value(x != 0.0f) {}
    explicit Truth(std::complex<double> x) : value(x != 0.0) {}
  };
  std::vector<int64_t> values;
  const auto combine = [op](Truth a, Truth b) { return Truth(op(a.value, b.value)); };
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      self.dtype(), [&]<typename C>(C) {
        for (Truth truth : fold<C>(self, reduced, Truth(identity), combine))
          values.push_back(truth.value);
      });
  return values;
}

DType truth_dtype(const Call& call) {
  return call.input(0).dtype() == DType::kU8 ? DType::kU8 : DType::kBool;
}

// What both have in common; `kind` is the partial that a sharded dim leaves.
OpBuilder& declare(Registrar& r, std::string_view schema, std::string_view kind,
                   EmptyDims empty = EmptyDims::kAll) {
  const auto rules = [kind, empty](const Call& call, RuleSink& sink) {
    const std::vector<bool> reduced = reduced_dims(call, empty);
    const bool single = reduced_count(call, reduced) == 1;
    // As if the output were bool: 0 and 1 of u8 behave alike, and `and` is their product too.
    const auto add = [&](std::string_view out, std::string_view in) {
      const Placement input = partial(in), output = partial(out);
      sink.add(std::span(&output, 1), std::span(&input, 1));
    };
    const bool is_number = !is_bool(call.output().dtype());
    for (const Pass& pass : cast_passes(call.input(0).dtype(), DType::kBool)) {
      if (!single && pass.out != kind) continue;
      add(pass.out, pass.in);
      if (is_number && pass.out == "min") add("product", pass.in);
    }
    if (!is_number) return;
    const Placement output = partial("product"), input = replicate();
    sink.add(std::span(&output, 1), std::span(&input, 1));
    if (kind == "min") reduction_rules(call, sink, reduced, keeps_dims(call), "product");
  };
  const bool is_all = kind == "min";
  return r.op(schema)
      .reduction(std::string(kind), truth_dtype, empty)
      .rules(rules)
      .compute(kReducible,
               [is_all, empty](const Call& call, const onedim_execution_t&) {
                 const std::vector<bool> reduced = reduced_dims(call, empty);
                 const std::vector<int64_t> values = is_all ? all_nonzero(call.input(0), reduced)
                                                            : any_nonzero(call.input(0), reduced);
                 store_dense(values.data(), call.output());
               })
      .cost(reduction_cost);
}

void declare_overloads(Registrar& r, const std::string& name, std::string_view kind,
                       const std::string& what) {
  declare(r, name + "(Tensor self) -> Tensor", kind)
      .summary("whether " + what)
      .samples({"bool[5,7]", "bool[4,6]", "f32[5,3]", "i64[7]", "c64[4]", "u8[5,3]", "f64[1,1]",
                "bool[1]", "u8[1]"})
      .out(name + ".all_out");
  declare(r, name + ".dim(Tensor self, int dim, bool keepdim=False) -> Tensor", kind)
      .summary("whether " + what + " along one dim")
      .samples({"bool[5,7]; dim=1", "bool[4,6]; dim=-2; keepdim=true", "f32[5,3]; dim=0",
                "i64[4,1,3]; dim=1", "u8[5,3]; dim=1", "bool[6,1]; dim=1", "f64[7,2]; dim=1"})
      .out(name + ".out");
  declare(r, name + ".dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", kind,
          EmptyDims::kNone)
      .summary("whether " + what + " along dims; an empty list reduces nothing")
      .samples({"bool[5,7]; dim=[1]", "bool[4,3,2]; dim=[0,-1]; keepdim=true", "f32[5,3]",
                "f32[5,3]; dim=[]", "bool[4,5]; dim=[]", "i64[4,3]; dim=[0]", "u8[5,2]; dim=[]"})
      .out(name + ".dims_out");
}

}  // namespace

std::vector<int64_t> any_nonzero(const TensorView& self, const std::vector<bool>& reduced) {
  return fold_truth(self, reduced, false, [](bool a, bool b) { return a || b; });
}

std::vector<int64_t> all_nonzero(const TensorView& self, const std::vector<bool>& reduced) {
  return fold_truth(self, reduced, true, [](bool a, bool b) { return a && b; });
}

void declare_logical(Registrar& r) {
  declare_overloads(r, "any", "max", "some element differs from zero");
  declare_overloads(r, "all", "min", "all elements differ from zero");
}

}  // namespace reduction
