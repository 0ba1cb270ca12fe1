// Rules with conditions and tags, and kernels that know where they stand. Sums are linear in the
// elements, so sums and means pass. A mean over a cut dim is a sum of parts over the global count,
// or the mean of these parts times the number of ranks; the mean of the ranks' own means is right
// of even parts only. Sums of blocks pass a cut that goes through no block. Global indices do not
// depend on the elements.
//   custom.mean f64[4,6], dim 0: S(0) | S(1);  P(sum) | S(0);  P(avg) | S(0).  custom.blind_mean:
//   P(avg) | S(0) on even sizes.  custom.block_sum f64[4,6] of 2: S(1) | S(1) in multiples of 2.
//   custom.index_along f64[4,6], dim 0: R | P(sum)

#include <numeric>

#include "families.hpp"

namespace custom {
namespace {

int dim_of(const Call& call) {
  return wrap_dim(call.attribute<int64_t>("dim"), call.tensor("self").ndim());
}

Shape without(const TensorView& self, int dim) {
  Shape shape = shape_of(self);
  shape.erase(shape.begin() + dim);
  return shape;
}

// Sums of self over `dim`, row-major over the other dims.
std::vector<double> sum_over(const TensorView& self, int dim) {
  const std::vector<double> values = load_dense<double>(self);
  int64_t inner = 1, outer = 1;
  for (int i = 0; i < self.ndim(); ++i) (i < dim ? outer : inner) *= i == dim ? 1 : self.size(i);
  std::vector<double> sums(static_cast<size_t>(outer * inner), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / (inner * self.size(dim));
    sums[static_cast<size_t>(row * inner + static_cast<int64_t>(i) % inner)] += values[i];
  }
  return sums;
}

void infer_without_dim(const Call& call, OutputSink& outputs) {
  const TensorView self = call.tensor("self");
  require(self.ndim() > 0, "self needs at least one dim");
  outputs.add(self.dtype(), without(self, dim_of(call)));
}

void linear_and_kept_dims(const Call& call, RuleSink& rules) {
  const int dim = dim_of(call);
  std::vector<bool> reduced(static_cast<size_t>(call.tensor("self").ndim()), false);
  reduced[static_cast<size_t>(dim)] = true;
  reduction_rules(call, rules, reduced, false, "");
  for (std::string_view kind : {std::string_view("sum"), std::string_view("avg")}) {
    rules.add_named(partial(kind), {{"self", partial(kind)}});
  }
  if (call.tensor("self").size(dim) != 1) return;
  for (std::string_view kind :
       {std::string_view("max"), std::string_view("min"), std::string_view("product")}) {
    rules.add_named(partial(kind), {{"self", partial(kind)}});
  }
}

// The tag tells the kernel which partial its result stands for: a sum of parts that were divided by
// the global count, or an average of parts that were scaled up by the number of ranks.
constexpr uint64_t kAsSum = 1;
constexpr uint64_t kAsAverage = 2;

void declare_mean(Registrar& r) {
  r.op("custom.mean(Tensor self, int dim) -> Tensor")
      .summary(
          "mean over one dim; sharded there it is a partial sum or average, also for uneven shards")
      .position_aware()
      .infer(infer_without_dim)
      .rules(linear_and_kept_dims)
      .rules([](const Call& call, RuleSink& rules) {
        const Placement in = any_shard(dim_of(call));
        rules.add_named(partial("sum"), {{"self", in}}, {0, kAsSum, {}});
        rules.add_named(partial("avg"), {{"self", in}}, {0, kAsAverage, {}});
      })
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) {
                 const TensorView self = call.tensor("self");
                 const int dim = dim_of(call);
                 double factor = 1.0 / static_cast<double>(call.global_size(false, 0, dim));
                 const onedim_location_t* at = call.location();
                 for (int mesh_dim = 0; at != nullptr && mesh_dim < at->mesh_ndim; ++mesh_dim) {
                   if (at->tags[mesh_dim] == kAsAverage)
                     factor *= static_cast<double>(at->mesh_shape[mesh_dim]);
                 }
                 std::vector<double> sums = sum_over(self, dim);
                 for (double& sum : sums) sum *= factor;
                 store_dense(sums.data(), call.output());
               })
      .samples({"f64[5,7]; dim=0", "f64[4,6]; dim=1", "f32[3,1,4]; dim=-1", "f64[7]; dim=0",
                "f64[4,1]; dim=1"});
}

void declare_blind_mean(Registrar& r) {
  r.op("custom.blind_mean(Tensor self, int dim) -> Tensor")
      .summary(
          "mean over one dim by a kernel that does not know its position: P(avg) for even shards "
          "only")
      .infer(infer_without_dim)
      .rules(linear_and_kept_dims)
      .rules([](const Call& call, RuleSink& rules) {
        rules.add_named(partial("avg"), {{"self", any_shard(dim_of(call))}},
                        {ONEDIM_RULE_EVEN_ONLY, 0, {}});
      })
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) {
                 const TensorView self = call.tensor("self");
                 std::vector<double> sums = sum_over(self, dim_of(call));
                 const double count = static_cast<double>(self.size(dim_of(call)));
                 for (double& sum : sums) sum = count > 0 ? sum / count : 0;
                 store_dense(sums.data(), call.output());
               })
      .samples({"f64[5,7]; dim=0", "f64[4,6]; dim=1", "f32[6,1,4]; dim=-1", "f64[12]; dim=0",
                "f64[4,1]; dim=1"});
}

int64_t block_of(const Call& call) {
  const int64_t block = call.attribute<int64_t>("block");
  require(block > 0, "block must be positive");
  return block;
}

// Blocks must not be cut: every rank's length must be a multiple of the block.
void declare_block_sum(Registrar& r) {
  r.op("custom.block_sum(Tensor self, int block) -> Tensor")
      .summary(
          "sums of consecutive blocks of the last dim, whose length must be a multiple of `block`")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self");
        require(self.ndim() > 0, "self needs at least one dim");
        Shape shape = shape_of(self);
        require(shape.back() % block_of(call) == 0, "the last dim must be a multiple of block");
        shape.back() /= block_of(call);
        outputs.add(self.dtype(), shape);
      })
      .rules([](const Call& call, RuleSink& rules) {
        const int last = call.tensor("self").ndim() - 1;
        for (int dim = 0; dim <= last; ++dim) {
          RuleOptions options;
          // A strided shard could end a chunk inside a block, so only plain shards cut the last
          // dim.
          const bool cuts_blocks = dim == last && block_of(call) > 1;
          if (cuts_blocks) options.requirements = {{0, 0, last, 0, block_of(call)}};
          const Placement sharded = cuts_blocks ? shard(dim) : any_shard(dim);
          rules.add_named(sharded, {{"self", sharded}}, options);
        }
        for (std::string_view kind : {std::string_view("sum"), std::string_view("avg")}) {
          rules.add_named(partial(kind), {{"self", partial(kind)}});
        }
        if (block_of(call) > 1) return;
        for (std::string_view kind :
             {std::string_view("max"), std::string_view("min"), std::string_view("product")}) {
          rules.add_named(partial(kind), {{"self", partial(kind)}});
        }
      })
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) {
                 const std::vector<double> values = load_dense<double>(call.tensor("self"));
                 const int64_t block = block_of(call);
                 std::vector<double> sums(values.size() / static_cast<size_t>(block));
                 for (size_t i = 0; i < sums.size(); ++i) {
                   const auto begin = values.begin() + static_cast<int64_t>(i) * block;
                   sums[i] = std::accumulate(begin, begin + block, 0.0);
                 }
                 store_dense(sums.data(), call.output());
               })
      .samples({"f64[5,8]; block=2", "f64[12]; block=3", "f32[3,4]; block=1", "f64[2,24]; block=4",
                "f32[10]; block=2"});
}

void declare_row_number(Registrar& r) {
  r.op("custom.index_along(Tensor self, int dim) -> Tensor")
      .summary("each element's global index on `dim`, as i64")
      .position_aware()
      .infer([](const Call& call, OutputSink& outputs) {
        dim_of(call);
        outputs.add(DType::kI64, shape_of(call.tensor("self")));
      })
      .rules(pointwise_rules)
      .rules([](const Call&, RuleSink& rules) {  // the values of self do not matter
        for (std::string_view kind : {"sum", "avg", "max", "min", "product"}) {
          rules.add_named(replicate(), {{"self", partial(kind)}});
        }
      })
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 const TensorView out = call.output();
                 const int dim = dim_of(call);
                 std::vector<int64_t> values(static_cast<size_t>(out.element_count()));
                 int64_t inner = 1;
                 for (int i = dim + 1; i < out.ndim(); ++i) inner *= out.size(i);
                 for (size_t i = 0; i < values.size(); ++i) {
                   const int64_t local =
                       static_cast<int64_t>(i) / inner % (out.ndim() > 0 ? out.size(dim) : 1);
                   values[i] = out.ndim() > 0 ? call.global_index(true, 0, dim, local) : 0;
                 }
                 store_dense(values.data(), out);
               })
      .samples({"f64[5,7]; dim=0", "f32[4,6]; dim=-1", "i64[3,1,4]; dim=2", "bool[6]; dim=0",
                "f64[2,5]; dim=1"});
}

}  // namespace

void declare_positions(Registrar& r) {
  declare_mean(r);
  declare_blind_mean(r);
  declare_block_sum(r);
  declare_row_number(r);
}

}  // namespace custom
