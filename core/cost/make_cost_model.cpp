#include "core/cost/make_cost_model.hpp"

#include "core/base/text.hpp"
#include "core/cost/autoparallel_model.hpp"
#include "core/cost/curve_model.hpp"

namespace onedim {
namespace {

const std::vector<std::string> kModels = {"alpha-beta", "autoparallel-h100", "nccl"};

// FNV-1a, which is the same in every process.
uint64_t hash_text(std::string_view text, uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

Result<std::unique_ptr<const CostModel>> make_cost_model(const Cluster& cluster, const Mesh& mesh,
                                                         std::string_view model) {
  if (model.empty()) model = cluster.model;
  const uint64_t fingerprint = hash_text(
      fmt::format("{}\n{}\n{}", model, format_dims(mesh.sizes()), format_cluster(cluster)));
  if (model == "alpha-beta") {
    return make_curve_model(cluster, mesh, alpha_beta_curve, fingerprint);
  }
  if (model == "nccl") {
    if (!cluster.nccl) {
      return invalid_argument(
          "cost model nccl needs a cluster with [nccl]; cluster {} has none, use alpha-beta",
          cluster.name);
    }
    return make_curve_model(cluster, mesh, nccl_curve, fingerprint);
  }
  if (model == "autoparallel-h100") {
    if (cluster.name != "h100" || !cluster.nccl) {
      return invalid_argument(
          "cost model autoparallel-h100 prices the cluster h100 only, not {}; use --cluster h100",
          cluster.name);
    }
    return make_autoparallel_model(cluster, mesh, fingerprint);
  }
  return invalid_argument("unknown cost model {} among {}{}", quoted_excerpt(model),
                          fmt::join(kModels, ", "), did_you_mean(model, kModels));
}

}  // namespace onedim
