#include "core/redistribute/plan.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/layout/placed_layout.hpp"
#include "core/redistribute/team.hpp"

namespace onedim {

double Plan::ratio() const {
  if (lower_bound_bytes == 0) return bytes == 0 ? 1 : static_cast<double>(bytes);
  return static_cast<double>(bytes) / static_cast<double>(lower_bound_bytes);
}

std::vector<int> changed_tensor_dims(const PlanStep& step) {
  std::vector<int> dims;
  for (size_t d = 0; d < step.from.placements.size(); ++d) {
    if ((step.mesh_dims >> d & 1) == 0) continue;
    for (const Placement* placement : {&step.from.placements[d], &step.to.placements[d]}) {
      if (placement->is_shard()) dims.push_back(placement->dim);
    }
  }
  std::sort(dims.begin(), dims.end());
  dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
  return dims;
}

std::string format_plan(const Plan& plan, const Mesh& mesh) {
  std::string text;
  for (const PlanStep& step : plan.steps) {
    text += step_kind_name(step.kind);
    if (step.mesh_dims != 0) text += " over " + format_mesh_dims(step.mesh_dims, mesh);
    text +=
        fmt::format(": {} -> {}, {} bytes, {:.3f} us",
                    format_placed_layout(step.from, step.from_outermost, mesh),
                    format_placed_layout(step.to, step.to_outermost, mesh), step.bytes, step.us);
    if (step.pack_bytes > 0) text += fmt::format(", pack {}", step.pack_bytes);
    if (step.unpack_bytes > 0) text += fmt::format(", unpack {}", step.unpack_bytes);
    if (step.padding_bytes > 0) text += fmt::format(", padding {}", step.padding_bytes);
    text += '\n';
  }
  // Of a bound of 0 there is no ratio to read.
  const bool has_ratio = plan.lower_bound_bytes != 0 || plan.bytes == 0;
  return text + fmt::format(
                    "{:.3f} us, {} bytes received at most (lower bound {}{}), "
                    "peak {} bytes a rank\n",
                    plan.cost_us, plan.bytes, plan.lower_bound_bytes,
                    has_ratio ? fmt::format(", ratio {:.3g}", plan.ratio()) : "", plan.peak_bytes);
}

nlohmann::ordered_json plan_to_json(const Plan& plan, const Mesh& mesh) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const PlanStep& step : plan.steps) {
    steps.push_back({{"kind", step_kind_name(step.kind)},
                     {"mesh_dims", mesh_dim_names(step.mesh_dims, mesh)},
                     {"tensor_dims", changed_tensor_dims(step)},
                     {"from", format_placed_layout(step.from, step.from_outermost, mesh)},
                     {"to", format_placed_layout(step.to, step.to_outermost, mesh)},
                     {"bytes", step.bytes},
                     {"us", step.us},
                     {"pack_bytes", step.pack_bytes},
                     {"unpack_bytes", step.unpack_bytes},
                     {"padding_bytes", step.padding_bytes},
                     {"memory_bytes", step.memory_bytes},
                     {"view", step.is_view}});
  }
  return {{"steps", std::move(steps)}, {"cost_us", plan.cost_us},
          {"bytes", plan.bytes},       {"lower_bound_bytes", plan.lower_bound_bytes},
          {"ratio", plan.ratio()},     {"peak_bytes", plan.peak_bytes}};
}

uint64_t plan_fingerprint(const Plan& plan, const Mesh& mesh) {
  std::string text = mesh.format();
  for (const PlanStep& step : plan.steps) {
    text += fmt::format("|{} {} {} {}", step_kind_name(step.kind), step.mesh_dims,
                        format_placed_layout(step.from, step.from_outermost, mesh),
                        format_placed_layout(step.to, step.to_outermost, mesh));
  }
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace onedim
