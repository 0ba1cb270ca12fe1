#include "core/redistribute/plan_path.hpp"

#include <algorithm>

#include "core/layout/index_map.hpp"
#include "core/redistribute/receive_bound.hpp"

namespace onedim {
namespace {

PlanStep make_step(const PathStep& found, const StateGraph& graph) {
  const Alphabet& alphabet = graph.alphabet();
  PlanStep step;
  const bool moves = !is_collective(found.step.kind) || found.price.is_collective;
  step.kind = moves ? found.step.kind : StepKind::kAlias;
  for (int i = 0; i < alphabet.mesh_ndim(); ++i) {
    if (found.step.mesh_dims >> i & 1) step.mesh_dims |= MeshDimSet{1} << alphabet.mesh_dim(i);
  }
  step.from = alphabet.decode(graph.code(found.from));
  step.to = alphabet.decode(graph.code(found.step.to));
  step.from_outermost = found.from_outermost;
  step.to_outermost = found.to_outermost;
  step.bytes = found.price.bytes;
  step.us = static_cast<double>(found.price.ps) / 1e6;
  step.pack_bytes = found.price.pack_bytes;
  step.unpack_bytes = found.price.unpack_bytes;
  step.padding_bytes = found.price.padding_bytes;
  step.is_view = found.price.is_view;
  return step;
}

}  // namespace

std::shared_ptr<const Plan> make_plan(std::span<const PathStep> path, const StateGraph& graph,
                                      const SearchRequest& request, const Layout& from,
                                      const Layout& to) {
  auto plan = std::make_shared<Plan>();
  plan->from = from;
  plan->to = to;
  plan->from_outermost = request.from_outermost;
  plan->to_outermost = request.to_outermost;
  int64_t ps = 0;
  plan->steps.reserve(path.size());
  for (const PathStep& found : path) {
    plan->steps.push_back(make_step(found, graph));
    ps += found.price.ps;
    plan->bytes += found.price.bytes;
    plan->collective_count += found.price.is_collective;
  }
  plan->cost_us = static_cast<double>(ps) / 1e6;
  const std::vector<int64_t> memory = memory_of_steps(path);
  for (size_t i = 0; i < memory.size(); ++i) {
    plan->steps[i].memory_bytes = memory[i];
    plan->peak_bytes = std::max(plan->peak_bytes, memory[i]);
  }
  plan->lower_bound_bytes =
      receive_bound(request.group, from, to, request.model->mesh(), graph.alphabet().tensor_ndim(),
                    request.allow_shard_to_partial);
  return plan;
}

std::shared_ptr<const Plan> make_alias_plan(std::span<const TensorMeta> group, const Layout& from,
                                            const Layout& to, const Mesh& mesh) {
  PlanStep step;
  step.from = from;
  step.to = to;
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (mesh.size(d) > 1 && from.placements[d].is_shard()) step.mesh_dims |= MeshDimSet{1} << d;
  }
  const Dims first_rank(static_cast<size_t>(mesh.ndim()), 0);  // none holds more
  for (const TensorMeta& meta : group) {
    step.memory_bytes +=
        volume(index_map(meta.shape, from, mesh, first_rank).local_shape()) * size_of(meta.dtype);
  }
  step.is_view = true;
  auto plan = std::make_shared<Plan>();
  plan->from = from;
  plan->to = to;
  plan->peak_bytes = step.memory_bytes;
  plan->steps.push_back(std::move(step));
  return plan;
}

std::vector<int64_t> memory_of_steps(std::span<const PathStep> path) {
  std::vector<int64_t> memory;
  int64_t storage = path.empty() ? 0 : path[0].price.from_bytes;
  for (const PathStep& found : path) {
    memory.push_back(found.price.memory_bytes - found.price.from_bytes + storage);
    if (!found.price.is_view) storage = found.price.to_bytes;
  }
  return memory;
}

int64_t peak_bytes(std::span<const PathStep> path) {
  int64_t peak = 0;
  for (const int64_t bytes : memory_of_steps(path)) peak = std::max(peak, bytes);
  return peak;
}

}  // namespace onedim
