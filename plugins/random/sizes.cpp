// Random tensors by size, and permutations. A permutation of n orders the indices by what they
// draw, so each rank finds the whole of it and keeps its part.
//   randperm(5) as S(0) over 2 ranks: rank 1 holds the last two elements of the one permutation

#include <numeric>

#include "families.hpp"

namespace random_numbers {
namespace {

constexpr const char* kOptions =
    ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
    "pin_memory=None) -> Tensor";

void shard_rules(const Call& call, RuleSink& rules) {
  for (int dim = 0; dim < call.output().ndim(); ++dim) {
    const Placement out = any_shard(dim);
    rules.add(std::span(&out, 1), {});
  }
}

OpBuilder& declare_sized(Registrar& r, std::string_view head, DType otherwise, FillFn fill) {
  std::string schema(head);
  schema += kOptions;
  return r.op(schema)
      .position_aware()
      .flags(ONEDIM_OP_RANDOM)
      .size_attribute("size")
      .infer([otherwise](const Call& call, OutputSink& outputs) {
        const auto size = call.attribute<std::vector<int64_t>>("size");
        require_sizes(size, "size");
        outputs.add(dtype_or(call, otherwise), size);
      })
      .rules(shard_rules)
      .compute(kAllDTypes, [fill = std::move(fill)](const Call& call,
                                                    const onedim_execution_t&) { fill(call); })
      .cost([](const Call& call, onedim_cost_t& cost) { elementwise_cost(call, 40, cost); });
}

std::vector<int64_t> permutation(const Call& call, int64_t n) {
  std::vector<std::pair<uint64_t, int64_t>> keys;
  for (int64_t i = 0; i < n; ++i) {
    const Draw draw(philox(call.seed(), call.call_id(), static_cast<uint64_t>(i)));
    keys.emplace_back(draw.integer(0), i);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int64_t> order;
  for (const auto& [key, index] : keys) order.push_back(index);
  return order;
}

void declare_permutation(Registrar& r) {
  std::string schema = "randperm(SymInt n";
  schema += kOptions;
  r.op(schema)
      .summary("a permutation of 0 .. n - 1")
      .position_aware()
      .flags(ONEDIM_OP_RANDOM)
      .infer([](const Call& call, OutputSink& outputs) {
        const int64_t n = call.attribute<int64_t>("n");
        require(n >= 0, "n must not be negative");
        outputs.add(dtype_or(call, DType::kI64), local_output_shape(call, 0, {n}));
      })
      .rules(shard_rules)
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 const std::vector<int64_t> all = permutation(call, call.attribute<int64_t>("n"));
                 std::vector<int64_t> here;
                 for (const int64_t index : global_indices(call, true, 0, 0))
                   here.push_back(all[index]);
                 store_dense(here.data(), call.output());
               })
      .cost([](const Call& call, onedim_cost_t& cost) { elementwise_cost(call, 80, cost); })
      .samples({"n=5", "n=7; dtype=f64", "n=12; dtype=i32", "n=1", "n=6"});
}

}  // namespace

void declare_sizes(Registrar& r) {
  declare_sized(r, "rand(SymInt[] size", DType::kF32,
                [](const Call& call) { fill_uniform(call, 0, 1); })
      .summary("numbers evenly spread over [0, 1)")
      .samples({"size=[5,7]", "size=[4,1,6]; dtype=f64", "size=[7]; dtype=bf16", "size=[]",
                "size=[6]; dtype=f16"})
      .out("rand.out");
  declare_sized(r, "randn(SymInt[] size", DType::kF32,
                [](const Call& call) { fill_normal(call, 0, 1); })
      .summary("normally distributed numbers")
      .samples({"size=[5,7]", "size=[4,1,6]; dtype=f64", "size=[7]; dtype=bf16", "size=[]",
                "size=[6]; dtype=c64"})
      .out("randn.out");
  const auto integers = [](const Call& call) {
    const bool has_low = call.find_attribute("low") != nullptr;
    fill_integers(call, has_low ? call.attribute<int64_t>("low") : 0,
                  call.attribute<int64_t>("high"));
  };
  declare_sized(r, "randint(SymInt high, SymInt[] size", DType::kI64, integers)
      .summary("integers of [0, high)")
      .samples({"high=10; size=[5,7]", "high=100; size=[4,1,6]; dtype=f64",
                "high=128; size=[7]; dtype=i8", "high=3; size=[]", "high=5; size=[6]; dtype=i32"});
  declare_sized(r, "randint.low(SymInt low, SymInt high, SymInt[] size", DType::kI64, integers)
      .summary("integers of [low, high)")
      .samples({"low=-5; high=10; size=[5,7]", "low=1; high=100; size=[4,1,6]; dtype=f64",
                "low=-128; high=128; size=[7]; dtype=i8", "low=2; high=3; size=[]",
                "low=0; high=5; size=[6]; dtype=i32"});
  declare_permutation(r);
}

}  // namespace random_numbers
