#include "core/graph/move_plan_read.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/layout/placed_layout.hpp"

namespace onedim {
namespace {

constexpr std::array<std::string_view, 12> kStepKeys = {
    "kind", "mesh_dims",  "tensor_dims",  "from",          "to",           "bytes",
    "us",   "pack_bytes", "unpack_bytes", "padding_bytes", "memory_bytes", "view"};

Result<StepKind> parse_step_kind(std::string_view text) {
  std::vector<std::string> names;
  for (int kind = 0; kind <= static_cast<int>(StepKind::kReorder); ++kind) {
    names.emplace_back(step_kind_name(static_cast<StepKind>(kind)));
    if (names.back() == text) return static_cast<StepKind>(kind);
  }
  return invalid_argument("unknown kind of step {}, expected one of {}{}", quoted_excerpt(text),
                          fmt::join(names, " "), did_you_mean(text, names));
}

Result<MeshDimSet> read_mesh_dims(const JsonKeys& keys, const Mesh& mesh) {
  const Result<simdjson::dom::array> list = keys.list("mesh_dims");
  if (!list.ok()) return list.status();
  MeshDimSet dims = 0;
  for (const simdjson::dom::element element : *list) {
    std::string_view name;
    const std::optional<int> found =
        element.get(name) == simdjson::SUCCESS ? mesh.find(name) : std::nullopt;
    if (!found) return invalid_argument("\"mesh_dims\" must list mesh dims of {}", mesh.format());
    dims |= MeshDimSet{1} << *found;
  }
  return dims;
}

Status read_place(const JsonKeys& keys, std::string_view key, const Mesh& mesh, int ndim,
                  Layout& layout, int& outermost) {
  const Result<std::string_view> text = keys.text(key);
  if (!text.ok()) return text.status();
  Result<PlacedLayout> placed = parse_placed_layout(*text, mesh, ndim);
  if (!placed.ok()) return annotate(placed.status(), key);
  layout = std::move(placed->layout);
  outermost = placed->outermost;
  return absl::OkStatus();
}

Status read_counts(const JsonKeys& keys, PlanStep& step) {
  const std::pair<std::string_view, int64_t*> counts[] = {{"bytes", &step.bytes},
                                                          {"pack_bytes", &step.pack_bytes},
                                                          {"unpack_bytes", &step.unpack_bytes},
                                                          {"padding_bytes", &step.padding_bytes},
                                                          {"memory_bytes", &step.memory_bytes}};
  for (const auto& [key, target] : counts) {
    const Result<int64_t> count = keys.count(key);
    if (!count.ok()) return count.status();
    *target = *count;
  }
  return absl::OkStatus();
}

Result<PlanStep> read_step(simdjson::dom::element element, const Mesh& mesh, int ndim) {
  const Result<JsonKeys> keys = JsonKeys::create(element, kStepKeys);
  if (!keys.ok()) return keys.status();
  PlanStep step;
  const Result<std::string_view> kind_name = keys->text("kind");
  if (!kind_name.ok()) return kind_name.status();
  const Result<StepKind> kind = parse_step_kind(*kind_name);
  if (!kind.ok()) return kind.status();
  step.kind = *kind;
  const Result<MeshDimSet> mesh_dims = read_mesh_dims(*keys, mesh);
  if (!mesh_dims.ok()) return mesh_dims.status();
  step.mesh_dims = *mesh_dims;
  Status status = read_place(*keys, "from", mesh, ndim, step.from, step.from_outermost);
  status.Update(read_place(*keys, "to", mesh, ndim, step.to, step.to_outermost));
  status.Update(read_counts(*keys, step));
  if (!status.ok()) return status;
  const Result<double> us = keys->real("us");
  if (!us.ok()) return us.status();
  step.us = *us;
  const Result<bool> is_view = keys->flag("view");
  if (!is_view.ok()) return is_view.status();
  step.is_view = *is_view;
  return step;
}

// Steps are over layouts without unit mesh dims, moves over those of nodes.
bool continues(const Layout& a, const Layout& b, const Mesh& mesh) {
  return drop_unit_mesh_dims(a, mesh) == drop_unit_mesh_dims(b, mesh);
}

Status check_chain(const Plan& plan, const Mesh& mesh) {
  const Layout* at = &plan.from;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (!continues(*at, plan.steps[i].from, mesh)) {
      return invalid_argument("steps[{}] starts from {}, but the tensor lies under {}", i,
                              format_layout(plan.steps[i].from, mesh), format_layout(*at, mesh));
    }
    at = &plan.steps[i].to;
  }
  if (continues(*at, plan.to, mesh)) return absl::OkStatus();
  return invalid_argument("the steps end at {}, not at {}", format_layout(*at, mesh),
                          format_layout(plan.to, mesh));
}

}  // namespace

Result<std::shared_ptr<const Plan>> read_move_plan(const JsonKeys& move, const Layout& from,
                                                   const Layout& to, const Mesh& mesh, int ndim) {
  auto plan = std::make_shared<Plan>();
  plan->from = from;
  plan->to = to;
  const Result<simdjson::dom::array> steps = move.list("steps");
  if (!steps.ok()) return steps.status();
  for (const simdjson::dom::element element : *steps) {
    Result<PlanStep> step = read_step(element, mesh, ndim);
    if (!step.ok()) return annotate(step.status(), fmt::format("steps[{}]", plan->steps.size()));
    plan->collective_count += is_collective(step->kind) ? 1 : 0;
    plan->cost_us += step->us;
    plan->bytes += step->bytes;
    plan->peak_bytes = std::max(plan->peak_bytes, step->memory_bytes);
    plan->steps.push_back(*std::move(step));
  }
  if (!plan->steps.empty()) {
    plan->from_outermost = plan->steps.front().from_outermost;
    plan->to_outermost = plan->steps.back().to_outermost;
  }
  if (Status status = check_chain(*plan, mesh); !status.ok()) return status;
  const Result<int64_t> bound = move.count("lower_bound_bytes");
  if (!bound.ok()) return bound.status();
  plan->lower_bound_bytes = *bound;
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace onedim
