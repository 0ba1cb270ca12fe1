#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/layout/layout_check.hpp"
#include "core/layout/placed_layout.hpp"
#include "core/redistribute/plan_check.hpp"
#include "tools/commands/commands.hpp"
#include "tools/layout_picture.hpp"
#include "tools/planning_flags.hpp"

namespace onedim {
namespace {

constexpr uint64_t kCheckSeed = 1;

struct RedistributeOptions {
  std::string tensors, from, to;
  PlanningFlags planning;
  bool check = false;
  bool draw = false;
};

struct Move {
  std::shared_ptr<const CostModel> model;
  std::vector<TensorMeta> group;
  Layout from, to;
  PlanOptions options;
};

Result<std::vector<TensorMeta>> parse_group(std::string_view text) {
  std::vector<TensorMeta> group;
  for (const std::string_view part : split_top_level(text, ';')) {
    Result<TensorMeta> meta = parse_meta(part);
    if (!meta.ok()) return meta.status();
    group.push_back(*std::move(meta));
  }
  if (group.empty()) return invalid_argument("no tensor is given, expected one such as f32[10,7]");
  return group;
}

Result<PlacedLayout> parse_flag(std::string_view flag, std::string_view text, const Mesh& mesh,
                                int ndim) {
  Result<PlacedLayout> placed = parse_placed_layout(text, mesh, ndim);
  return placed.ok() ? std::move(placed) : annotate(placed.status(), flag);
}

// Whether the layout can place the tensors.
Status check_flag(std::string_view flag, const Layout& layout, std::span<const TensorMeta> group,
                  const Mesh& mesh) {
  for (const TensorMeta& meta : group) {
    if (Status status = check_placements(meta, layout, mesh); !status.ok())
      return annotate(status, flag);
  }
  return absl::OkStatus();
}

Result<Move> parse_move(const RedistributeOptions& options) {
  Move move;
  Result<std::shared_ptr<const CostModel>> model = options.planning.make_model();
  if (!model.ok()) return model.status();
  move.model = *std::move(model);
  const Mesh& mesh = move.model->mesh();
  Result<std::vector<TensorMeta>> group = parse_group(options.tensors);
  if (!group.ok()) return group.status();
  move.group = *std::move(group);
  size_t ndim = move.group[0].shape.size();
  for (const TensorMeta& meta : move.group) ndim = std::min(ndim, meta.shape.size());
  Result<PlacedLayout> from = parse_flag("--from", options.from, mesh, static_cast<int>(ndim));
  if (!from.ok()) return from.status();
  Result<PlacedLayout> to = parse_flag("--to", options.to, mesh, static_cast<int>(ndim));
  if (!to.ok()) return to.status();
  if (Status status = check_flag("--from", from->layout, move.group, mesh); !status.ok())
    return status;
  if (Status status = check_flag("--to", to->layout, move.group, mesh); !status.ok()) return status;
  move.from = std::move(from->layout);
  move.to = std::move(to->layout);
  const Result<PlanOptions> plan_options = options.planning.plan_options();
  if (!plan_options.ok()) return plan_options.status();
  move.options = *plan_options;
  move.options.from_outermost = from->outermost;
  move.options.to_outermost = to->outermost;
  return move;
}

// Packs are looked for only where a layout names a kind of theirs.
Status check_kinds(Session& session, const Move& move, const Layout& layout,
                   std::string_view flag) {
  const bool names_any = std::any_of(
      layout.placements.begin(), layout.placements.end(),
      [](const Placement& p) { return p.is_partial() && !is_builtin_partial(p.partial); });
  if (!names_any) return absl::OkStatus();
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  Status status = (*registry)->check_partials(layout, move.model->mesh());
  if (status.ok()) status = (*registry)->check_state_count(layout, move.group.size());
  return annotate(status, flag);
}

// Drawn as planned: S is R on a tensor dim that has size 1 in the whole group.
Layout drawn_layout(const Move& move, const Layout& layout) {
  Dims sizes = move.group[0].shape;
  for (const TensorMeta& meta : move.group) {
    for (size_t dim = 0; dim < std::min(sizes.size(), meta.shape.size()); ++dim) {
      if (sizes[dim] == 1) sizes[dim] = meta.shape[dim];
    }
  }
  return drop_unit_dims(layout, move.model->mesh(), sizes);
}

std::string picture(const Move& move) {
  const Mesh& mesh = move.model->mesh();
  const PlanOptions& options = move.options;
  std::string text;
  for (const TensorMeta& meta : move.group) {
    const Layout from = drawn_layout(move, move.from), to = drawn_layout(move, move.to);
    text += layout_text({meta, from, mesh, options.from_outermost}) + "\n";
    text += layout_text({meta, to, mesh, options.to_outermost}) + "\n";
  }
  return text;
}

Result<ExitCode> run_redistribute(Session& session, const RedistributeOptions& options) {
  const Result<Move> move = parse_move(options);
  if (!move.ok()) return move.status();
  const Mesh& mesh = move->model->mesh();
  if (Status status = check_kinds(session, *move, move->from, "--from"); !status.ok())
    return status;
  if (Status status = check_kinds(session, *move, move->to, "--to"); !status.ok()) return status;
  Planner planner(move->model);
  const Result<std::shared_ptr<const Plan>> plan =
      planner.plan(move->group, move->from, move->to, move->options);
  // Fine flags that no plan serves: a finding, as in select.
  if (absl::IsNotFound(plan.status())) {
    session.refuse(message_of(plan.status()));
    return ExitCode::kFindings;
  }
  if (!plan.ok()) return plan.status();
  Status checked;
  if (options.check) {
    const Registry& packs = session.loaded();  // where a layout names a kind of theirs
    checked = check_plan(**plan, move->group, mesh, kCheckSeed,
                         [&](std::string_view name) { return packs.find_partial_kind(name); });
  }
  if (absl::IsInvalidArgument(checked) || absl::IsUnimplemented(checked)) return checked;
  if (session.flags.json) {
    Json json = plan_to_json(**plan, mesh);
    json["checked"] = options.check && checked.ok();
    if (!checked.ok()) json["fault"] = message_of(checked);
    session.write_json(json);
  } else {
    if (options.draw) session.write(picture(*move));
    session.write(format_plan(**plan, mesh));
    if (options.check && checked.ok())
      session.write("checked: every rank holds what the index map gives it\n");
    if (!checked.ok()) session.write(fmt::format("not right: {}\n", message_of(checked)));
  }
  return checked.ok() ? ExitCode::kFine : ExitCode::kFindings;
}

void add_flags(CLI::App& command, RedistributeOptions& options) {
  command
      .add_option("tensor", options.tensors,
                  "Tensor, such as f32[10,7]; several with `;`, as the state of a partial of a "
                  "pack is, move as one value")
      ->type_name("TENSOR")
      ->required();
  command
      .add_option(
          "--from", options.from,
          "Layout that the tensor has; ` outermost(1)` behind it where dim 1 is outermost in "
          "memory")
      ->type_name("LAYOUT")
      ->required();
  command.add_option("--to", options.to, "Layout that it is to have")
      ->type_name("LAYOUT")
      ->required();
  options.planning.add_to(command);
  command.add_flag("--check", options.check, "Run the plan on simulated ranks and compare");
  command.add_flag("--draw", options.draw, "Show both layouts, rank by rank");
}

}  // namespace

void add_redistribute(CLI::App& app, Session& session) {
  auto options = std::make_shared<RedistributeOptions>();
  CLI::App* command =
      app.add_subcommand("redistribute", "Plan how a tensor gets from one layout to another");
  add_flags(*command, *options);
  command->footer(
      "Example: onedim redistribute 'f32[10,7]' --mesh a=2,b=3 --from 'S(0),R' --to 'R,S(1)'");
  command->callback([options, &session] {
    session.choose([options, &session] { return run_redistribute(session, *options); });
  });
}

}  // namespace onedim
