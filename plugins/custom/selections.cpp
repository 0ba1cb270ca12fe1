// Views, tensor lists, and lists whose elements may be absent. A view's elements are those of self,
// so every partial passes, and any shard of a dim that is kept whole; a cut of the window's own dim
// would leave each rank another part. A sum with weights takes sums of all tensors together, a max
// of one beside whole others, turned by a negative weight. Rows by number need all rows, but a rank
// may look up some of the numbers.
//   custom.window f64[5,7], dim 1, 2:5: S(0) | S(0);  P(max) | P(max);  no S(1) | S(1).
//   custom.weighted_sum f64[5,7] twice, weights 0.5, 2: P(sum) | P(sum), P(sum);
//   P(max) | P(max), R.  custom.outer_index f64[5,7], i64[4]: S(0) | R, S(0);  S(1) | S(1), R

#include "families.hpp"

namespace custom {
namespace {

void pass_all_partials(RuleSink& rules, std::string_view argument) {
  for (std::string_view kind : {"sum", "avg", "max", "min", "product"}) {
    rules.add_named(partial(kind), {{argument, partial(kind)}});
  }
}

void declare_window(Registrar& r) {
  r.op("custom.window(Tensor(a) self, int dim, int start, int length) -> Tensor(a)")
      .summary("elements [start, start + length) of one dim, as a view")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self");
        require(self.ndim() > 0, "self needs at least one dim");
        const int dim = wrap_dim(call.attribute<int64_t>("dim"), self.ndim());
        const int64_t start = call.attribute<int64_t>("start"),
                      length = call.attribute<int64_t>("length");
        require(start >= 0 && length >= 0 && start + length <= self.size(dim),
                "the window leaves the dim");
        Output out{self.dtype(), shape_of(self),
                   Shape(self.strides().begin(), self.strides().end()), call.slot("self"),
                   start * self.stride(dim)};
        out.shape[static_cast<size_t>(dim)] = length;
        outputs.add(out);
      })
      .rules([](const Call& call, RuleSink& rules) {
        const TensorView self = call.tensor("self");
        const int dim = wrap_dim(call.attribute<int64_t>("dim"), self.ndim());
        for (int other = 0; other < self.ndim(); ++other) {
          if (other != dim) rules.add_named(any_shard(other), {{"self", any_shard(other)}});
        }
        pass_all_partials(rules, "self");
      })
      .compute(kAllDTypes, [](const Call&, const onedim_execution_t&) {})
      .samples({"f64[5,7]; dim=1; start=2; length=3", "f32[6]; dim=0; start=0; length=4",
                "i64[3,1,4]; dim=-1; start=1; length=2", "bool[4,5]; dim=0; start=1; length=3",
                "c64[5,3]; dim=0; start=3; length=2"});
}

// out = sum_i weights[i] * tensors[i]; linear in the list as a whole, max and min one tensor at a
// time.
void declare_weighted_sum(Registrar& r) {
  r.op("custom.weighted_sum(Tensor[] tensors, float[] weights) -> Tensor")
      .summary("sum of weights[i] * tensors[i], all of one shape and dtype")
      .infer([](const Call& call, OutputSink& outputs) {
        const std::vector<TensorView> tensors = call.tensors("tensors");
        require(!tensors.empty(), "the list of tensors is empty");
        require(call.attribute<std::vector<double>>("weights").size() == tensors.size(),
                "one weight is needed for each tensor");
        for (const TensorView& tensor : tensors) {
          require(shape_of(tensor) == shape_of(tensors[0]) && tensor.dtype() == tensors[0].dtype(),
                  "the tensors must have one shape and dtype");
        }
        outputs.add(tensors[0].dtype(), shape_of(tensors[0]));
      })
      .rules(pointwise_rules)
      .rules([](const Call& call, RuleSink& rules) {
        const auto weights = call.attribute<std::vector<double>>("weights");
        rules.add_named(partial("sum"), {{"tensors", partial("sum")}});
        rules.add_named(partial("avg"), {{"tensors", partial("avg")}});
        const Placement max = partial("max"), min = partial("min"), product = partial("product");
        for (size_t i = 0; i < weights.size(); ++i) {
          std::vector<Placement> inputs(weights.size(), replicate());
          inputs[i] = weights[i] > 0 ? max : min;
          rules.add(std::span(&max, 1), inputs);
          inputs[i] = weights[i] > 0 ? min : max;
          rules.add(std::span(&min, 1), inputs);
        }
        if (weights.size() == 1 && weights[0] == 1)
          rules.add(std::span(&product, 1), std::span(&product, 1));
      })
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) {
                 const auto weights = call.attribute<std::vector<double>>("weights");
                 std::vector<double> sum(static_cast<size_t>(call.output().element_count()), 0);
                 for (size_t i = 0; i < weights.size(); ++i) {
                   const std::vector<double> values =
                       load_dense<double>(call.input(static_cast<int>(i)));
                   for (size_t j = 0; j < sum.size(); ++j) sum[j] += weights[i] * values[j];
                 }
                 store_dense(sum.data(), call.output());
               })
      .samples({"[f64[5,7]; f64[5,7]]; weights=[0.5,2.0]",
                "[f64[4,3]; f64[4,3]]; weights=[1.0,-1.5]", "[f32[6]]; weights=[1.0]",
                "[f64[3,1]; f64[3,1]; f64[3,1]]; weights=[1.0,2.0,-0.5]",
                "[f64[5]; f64[5]]; weights=[-1.0,-2.0]"});
}

// out[i, j, ..] = self[indices[0][i], indices[1][j], ..], where an absent index keeps the dim as it
// is.
struct OuterIndex {
  TensorView self;
  std::vector<TensorView> indices;  // one per dim of self; not present: the dim is kept
};

OuterIndex outer_index(const Call& call) {
  OuterIndex outer{call.tensor("self"), call.tensors("indices")};
  require(static_cast<int>(outer.indices.size()) <= outer.self.ndim(),
          "there are more indices than dims");
  outer.indices.resize(static_cast<size_t>(outer.self.ndim()));
  for (const TensorView& index : outer.indices) {
    if (!index.present()) continue;
    require(index.ndim() == 1 && index.dtype() == DType::kI64, "indices must be i64 vectors");
  }
  return outer;
}

void select_outer(const Call& call) {
  const OuterIndex outer = outer_index(call);
  const TensorView out = call.output();
  std::vector<std::vector<int64_t>> indices(outer.indices.size());
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    if (!outer.indices[dim].present()) continue;
    indices[dim] = load_dense<int64_t>(outer.indices[dim]);
    for (int64_t i : indices[dim]) {
      require(i >= 0 && i < outer.self.size(static_cast<int>(dim)), "an index leaves the dim");
    }
  }
  const int64_t item = size_of(out.dtype());
  const auto* from = outer.self.data_as<const std::byte>();
  auto* to = out.data_as<std::byte>();
  Shape at(static_cast<size_t>(out.ndim()), 0);
  for (int64_t i = 0; i < out.element_count(); ++i) {
    int64_t source = 0, target = 0;
    for (int dim = 0; dim < out.ndim(); ++dim) {
      const int64_t index = outer.indices[dim].present() ? indices[dim][at[dim]] : at[dim];
      source += index * outer.self.stride(dim);
      target += at[dim] * out.stride(dim);
    }
    std::copy_n(from + source * item, item, to + target * item);
    for (int dim = out.ndim() - 1; dim >= 0 && ++at[dim] == out.size(dim); --dim) at[dim] = 0;
  }
}

void declare_outer_index(Registrar& r) {
  r.op("custom.outer_index(Tensor self, Tensor?[] indices) -> Tensor")
      .summary("rows, columns, .. of self by one index vector a dim; an absent index keeps the dim")
      .infer([](const Call& call, OutputSink& outputs) {
        const OuterIndex outer = outer_index(call);
        Shape shape = shape_of(outer.self);
        for (size_t dim = 0; dim < shape.size(); ++dim) {
          if (outer.indices[dim].present()) shape[dim] = outer.indices[dim].size(0);
        }
        outputs.add(outer.self.dtype(), shape);
      })
      .rules([](const Call& call, RuleSink& rules) {
        const OuterIndex outer = outer_index(call);
        const int first = call.argument("indices").first_slot;
        for (int dim = 0; dim < outer.self.ndim(); ++dim) {
          std::vector<Placement> inputs(static_cast<size_t>(call.input_count()), replicate());
          for (int slot = 0; slot < call.input_count(); ++slot) {
            if (!call.input(slot).present()) inputs[slot] = absent();
          }
          inputs[outer.indices[dim].present() ? first + dim : 0] =
              any_shard(outer.indices[dim].present() ? 0 : dim);
          const Placement out = any_shard(dim);
          rules.add(std::span(&out, 1), inputs);
        }
        pass_all_partials(rules, "self");
      })
      .compute(kAllDTypes, [](const Call& call, const onedim_execution_t&) { select_outer(call); })
      .samples({"f64[5,7]; [i64[4]:index(5)]", "f64[4,6]; [-; i64[3]:index(6)]",
                "f32[5,3]; [i64[6]:index(5); i64[2]:index(3)]",
                "i64[3,4,2]; [-; i64[5]:index(4); -]", "c64[6]; [i64[7]:index(6)]"});
}

}  // namespace

void declare_selections(Registrar& r) {
  declare_window(r);
  declare_weighted_sum(r);
  declare_outer_index(r);
}

}  // namespace custom
