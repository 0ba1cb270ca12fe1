#include "tools/planning_flags.hpp"

#include "core/cost/make_cost_model.hpp"
#include "tools/byte_size.hpp"

namespace onedim {

void PlanningFlags::add_to(CLI::App& command) {
  command.add_option("--mesh", mesh, "Mesh, outermost dim first, such as a=2,b=3")
      ->type_name("MESH")
      ->required();
  command.add_option("--cluster", cluster, "Cluster whose prices count")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  command.add_option("--cost-model", cost_model, "Cost model (default: the cluster's)")
      ->type_name("NAME");
  command
      .add_option("--policy", policy,
                  "What layouts that are chosen or given as targets may be: even, nonempty, fits "
                  "or any")
      ->type_name("POLICY")
      ->capture_default_str();
  command.add_option("--memory", memory, "Most bytes a rank may hold in a step, as 80GB")
      ->type_name("BYTES");
  command.add_flag("--allow-shard-to-partial", allow_shard_to_partial,
                   "Let a shard become a partial without communication");
}

Result<std::shared_ptr<const CostModel>> PlanningFlags::make_model() const {
  const Result<Mesh> parsed = Mesh::parse(mesh);
  if (!parsed.ok()) return parsed.status();
  const Result<Cluster> loaded = load_cluster(cluster);
  if (!loaded.ok()) return loaded.status();
  Result<std::unique_ptr<const CostModel>> model = make_cost_model(*loaded, *parsed, cost_model);
  if (!model.ok()) return model.status();
  return *std::move(model);
}

Result<Roofline> PlanningFlags::make_roofline() const {
  const Result<Cluster> loaded = load_cluster(cluster);
  if (!loaded.ok()) return loaded.status();
  return Roofline::of_model(*loaded, cost_model);
}

Result<PlanOptions> PlanningFlags::plan_options() const {
  PlanOptions options;
  const Result<Policy> parsed = parse_policy(policy);
  if (!parsed.ok()) return parsed.status();
  options.policy = *parsed;
  options.allow_shard_to_partial = allow_shard_to_partial;
  if (memory.empty()) return options;
  const Result<int64_t> bytes = parse_byte_size(memory);
  if (!bytes.ok()) return annotate(bytes.status(), "--memory");
  options.memory_bytes = *bytes;
  return options;
}

Result<SelectOptions> PlanningFlags::select_options() const {
  const Result<PlanOptions> moves = plan_options();
  if (!moves.ok()) return moves.status();
  SelectOptions options;
  options.policy = moves->policy;
  options.memory_bytes = moves->memory_bytes;
  options.allow_shard_to_partial = moves->allow_shard_to_partial;
  return options;
}

}  // namespace onedim
