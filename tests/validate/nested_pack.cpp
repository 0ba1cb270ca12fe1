#include "nested_pack.hpp"

#include <numeric>
#include <onedim/pack.hpp>

#include "linked_pack.hpp"

namespace onedim {
namespace {

using api::Registrar;

constexpr uint64_t kAsAverage = 1;

int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

bool is_shard(const onedim_placement_t& placement) {
  return placement.kind == ONEDIM_PLACEMENT_SHARD;
}

void infer_same(const api::Call& call, api::OutputSink& outputs) {
  outputs.add(api::DType::kF64, {call.input(0).size(0)});
}

void infer_scalar(const api::Call&, api::OutputSink& outputs) { outputs.add(api::DType::kF64, {}); }

// y[i] = x[i] + the global index of i, as `index` has it.
using Index = std::function<int64_t(const api::Call& call, int64_t i)>;
void declare_index(Registrar& r, std::string_view schema, std::string_view rule, Index index) {
  r.op(schema)
      .position_aware()
      .infer(infer_same)
      .rules({rule})
      .compute(api::dtype_mask<double>(),
               [index](const api::Call& call, const onedim_execution_t&) {
                 const auto x = call.input(0), y = call.output();
                 for (int64_t i = 0; i < x.size(0); ++i) {
                   y.data_as<double>()[i * y.stride(0)] =
                       x.data_as<double>()[i * x.stride(0)] + static_cast<double>(index(call, i));
                 }
               })
      .samples({"f64[7]", "f64[12]"});
}

int64_t index_by_first_shard(const api::Call& call, int64_t i) {
  const onedim_location_t* at = call.location();
  for (int mesh_dim = 0; at != nullptr && mesh_dim < at->mesh_ndim; ++mesh_dim) {
    if (!is_shard(at->inputs[0].placements[mesh_dim])) continue;
    return at->coordinate[mesh_dim] *
               divide_up(at->inputs[0].global_shape[0], at->mesh_shape[mesh_dim]) +
           i;
  }
  return i;
}

// Right as long as mesh dims cut left to right.
int64_t index_left_to_right(const api::Call& call, int64_t i) {
  const onedim_location_t* at = call.location();
  if (at == nullptr) return i;
  int64_t begin = 0, length = at->inputs[0].global_shape[0];
  for (int mesh_dim = 0; mesh_dim < at->mesh_ndim; ++mesh_dim) {
    if (!is_shard(at->inputs[0].placements[mesh_dim])) continue;
    const int64_t chunk = divide_up(length, at->mesh_shape[mesh_dim]);
    const int64_t skipped = std::min(length, at->coordinate[mesh_dim] * chunk);
    begin += skipped;
    length = std::min(chunk, length - skipped);
  }
  return begin + i;
}

// Right for one interval a mesh dim, which is what a single strided shard of two chunks has.
int64_t index_of_two_intervals(const api::Call& call, int64_t i) {
  const onedim_location_t* at = call.location();
  if (at == nullptr) return i;
  const onedim_interval_t* intervals = at->inputs[0].intervals;
  const int64_t first = intervals[0].end - intervals[0].begin;
  return i < first ? intervals[0].begin + i : intervals[1].begin + i - first;
}

void declare_indices(Registrar& r) {
  declare_index(r, "nested.index(Tensor x) -> Tensor", "S*(0) | S*(0)",
                [](const api::Call& call, int64_t i) { return call.global_index(false, 0, 0, i); });
  declare_index(r, "nested.wrong_first_shard(Tensor x) -> Tensor", "S(0) | S(0)",
                index_by_first_shard);
  declare_index(r, "nested.wrong_left_to_right(Tensor x) -> Tensor", "S(0) | S(0)",
                index_left_to_right);
  declare_index(r, "nested.wrong_two_intervals(Tensor x) -> Tensor", "S*(0) | S*(0)",
                index_of_two_intervals);
}

double sum_of(const api::TensorView& x) {
  const std::vector<double> values = api::load_dense<double>(x);
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The factor that makes an average of a sum, over the first `mesh_dims` of the mesh's.
double ranks_averaged(const api::Call& call, int mesh_dims) {
  double ranks = 1;
  const onedim_location_t* at = call.location();
  for (int i = 0; at != nullptr && i < std::min(mesh_dims, at->mesh_ndim); ++i) {
    if (at->tags[i] == kAsAverage) ranks *= static_cast<double>(at->mesh_shape[i]);
  }
  return ranks;
}

void declare_means(Registrar& r) {
  const auto declare = [&](std::string_view schema, int mesh_dims) {
    r.op(schema)
        .position_aware()
        .infer(infer_scalar)
        .rules([](const api::Call&, api::RuleSink& rules) {
          rules.add("P(avg) | S*(0)", 0, kAsAverage);
          rules.add("P(sum) | S*(0)");
          rules.add("P(sum) | P(sum)");
        })
        .compute(api::dtype_mask<double>(),
                 [mesh_dims](const api::Call& call, const onedim_execution_t&) {
                   const double count = static_cast<double>(call.global_size(false, 0, 0));
                   const double mean =
                       sum_of(call.input(0)) * ranks_averaged(call, mesh_dims) / count;
                   api::store_dense(&mean, call.output());
                 })
        .samples({"f64[7]", "f64[12]"});
  };
  declare("nested.mean(Tensor x) -> Tensor", 8);
  declare("nested.wrong_first_tag(Tensor x) -> Tensor", 1);
}

// Swaps the two of each pair; a rule for lengths that two, three or four ranks cut between pairs,
// and more ranks do not.
void declare_pairs(Registrar& r) {
  const auto declare = [&](std::string_view schema, int64_t multiple) {
    r.op(schema)
        .infer(infer_same)
        .rules([multiple](const api::Call& call, api::RuleSink& rules) {
          const int64_t length = call.input(0).size(0);
          if (length % 24 != 0) return;
          const api::Placement shard = api::shard(0);
          api::RuleOptions options;
          options.flags = ONEDIM_RULE_EVEN_ONLY;
          if (multiple > 1) options.requirements = {{0, 0, 0, 0, multiple}};
          rules.add(std::span(&shard, 1), std::span(&shard, 1), options);
        })
        .compute(api::dtype_mask<double>(),
                 [](const api::Call& call, const onedim_execution_t&) {
                   std::vector<double> values = api::load_dense<double>(call.input(0));
                   for (size_t i = 0; i + 1 < values.size(); i += 2)
                     std::swap(values[i], values[i + 1]);
                   api::store_dense(values.data(), call.output());
                 })
        .samples({"f64[24]"});
  };
  declare("nested.pairs(Tensor x) -> Tensor", 2);
  declare("nested.wrong_pairs(Tensor x) -> Tensor", 1);
}

// The mean as a joint partial: (sum, count), or one whose state knows of the first mesh dim only.
void declare_joint(Registrar& r) {
  const auto declare = [&](std::string_view kind, std::string_view schema, bool is_wrong) {
    r.partial(kind, {"sum", "count"})
        .outputs(1)
        .state([](const api::Call&, api::OutputSink& states) {
          states.add(api::DType::kF64, {});
          states.add(api::DType::kF64, {});
        })
        .local([is_wrong](const api::Call& call, api::States states) {
          const double sum = sum_of(call.input(0));
          double count = static_cast<double>(call.input(0).size(0));
          const onedim_location_t* at = call.location();
          if (is_wrong && at != nullptr && at->mesh_ndim > 1 && at->coordinate[1] > 0) count = 0;
          api::store_dense(&sum, api::TensorView(&states[0]));
          api::store_dense(&count, api::TensorView(&states[1]));
        })
        .identity({0, 0})
        .combine([](api::States into, api::States from) {
          for (int i = 0; i < 2; ++i) {
            const double sum =
                sum_of(api::TensorView(&into[i])) + sum_of(api::TensorView(&from[i]));
            api::store_dense(&sum, api::TensorView(&into[i]));
          }
        })
        .finish([](api::States states, api::States outputs) {
          const double mean =
              sum_of(api::TensorView(&states[0])) / sum_of(api::TensorView(&states[1]));
          api::store_dense(&mean, api::TensorView(&outputs[0]));
        });
    r.op(schema)
        .infer(infer_scalar)
        .rules([kind](const api::Call&, api::RuleSink& rules) {
          rules.add("P(" + std::string(kind) + ") | S*(0)");
        })
        .compute(api::dtype_mask<double>(),
                 [](const api::Call& call, const onedim_execution_t&) {
                   const double mean =
                       sum_of(call.input(0)) / static_cast<double>(call.input(0).size(0));
                   api::store_dense(&mean, call.output());
                 })
        .samples({"f64[7]", "f64[12]"});
  };
  declare("nested.sum_count", "nested.joint_mean(Tensor x) -> Tensor", false);
  declare("nested.wrong_sum_count", "nested.wrong_joint_mean(Tensor x) -> Tensor", true);
}

int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) noexcept {
  return api::run_init(host, registrar, [](Registrar& r) {
    declare_indices(r);
    declare_means(r);
    declare_pairs(r);
    declare_joint(r);
  });
}

constexpr onedim_pack_t kPack = api::make_pack("nested", "1.0.0", init);

}  // namespace

const Registry& nested_registry() {
  static const Registry* registry = make_registry(kPack, "nested");
  return *registry;
}

}  // namespace onedim
