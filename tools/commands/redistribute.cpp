#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/cost/make_cost_model.hpp"
#include "core/redistribute/plan_check.hpp"
#include "core/redistribute/planner.hpp"
#include "tools/byte_size.hpp"
#include "tools/commands/commands.hpp"
#include "tools/layout_picture.hpp"

namespace onedim {
namespace {

constexpr uint64_t kCheckSeed = 1;

struct RedistributeOptions {
  std::string tensors;
  std::string mesh, from, to;
  std::string cluster = "alpha_beta";
  std::string cost_model;
  std::string policy = "nonempty";
  std::string memory;
  bool allow_shard_to_partial = false;
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

Result<Layout> parse_flag(std::string_view flag, std::string_view text, const Mesh& mesh,
                          int ndim) {
  Result<Layout> layout = parse_layout(text, mesh, ndim);
  if (!layout.ok()) return annotate(layout.status(), flag);
  return layout;
}

Status parse_plan_options(const RedistributeOptions& options, PlanOptions& parsed) {
  const Result<Policy> policy = parse_policy(options.policy);
  if (!policy.ok()) return policy.status();
  parsed.policy = *policy;
  parsed.allow_shard_to_partial = options.allow_shard_to_partial;
  if (options.memory.empty()) return absl::OkStatus();
  const Result<int64_t> memory = parse_byte_size(options.memory);
  if (!memory.ok()) return annotate(memory.status(), "--memory");
  parsed.memory_bytes = *memory;
  return absl::OkStatus();
}

Result<Move> parse_move(const RedistributeOptions& options) {
  Move move;
  const Result<Mesh> mesh = Mesh::parse(options.mesh);
  if (!mesh.ok()) return mesh.status();
  Result<std::vector<TensorMeta>> group = parse_group(options.tensors);
  if (!group.ok()) return group.status();
  move.group = *std::move(group);
  size_t ndim = move.group[0].shape.size();
  for (const TensorMeta& meta : move.group) ndim = std::min(ndim, meta.shape.size());
  Result<Layout> from = parse_flag("--from", options.from, *mesh, static_cast<int>(ndim));
  if (!from.ok()) return from.status();
  Result<Layout> to = parse_flag("--to", options.to, *mesh, static_cast<int>(ndim));
  if (!to.ok()) return to.status();
  move.from = *std::move(from);
  move.to = *std::move(to);
  if (Status status = parse_plan_options(options, move.options); !status.ok()) return status;
  const Result<Cluster> cluster = load_cluster(options.cluster);
  if (!cluster.ok()) return cluster.status();
  Result<std::unique_ptr<const CostModel>> model =
      make_cost_model(*cluster, *mesh, options.cost_model);
  if (!model.ok()) return model.status();
  move.model = *std::move(model);
  return move;
}

std::string picture(const Move& move) {
  std::string text;
  for (const TensorMeta& meta : move.group) {
    text += layout_text({meta, move.from, move.model->mesh()}) + "\n";
    text += layout_text({meta, move.to, move.model->mesh()}) + "\n";
  }
  return text;
}

Result<ExitCode> run_redistribute(Session& session, const RedistributeOptions& options) {
  const Result<Move> move = parse_move(options);
  if (!move.ok()) return move.status();
  const Mesh& mesh = move->model->mesh();
  Planner planner(move->model);
  const Result<std::shared_ptr<const Plan>> plan =
      planner.plan(move->group, move->from, move->to, move->options);
  if (!plan.ok()) return plan.status();
  Status checked;
  if (options.check) checked = check_plan(**plan, move->group, mesh, kCheckSeed);
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
                  "Tensor, such as f32[10,7]; several with `;` move as one value")
      ->type_name("TENSOR")
      ->required();
  command.add_option("--mesh", options.mesh, "Mesh, outermost dim first, such as a=2,b=3")
      ->type_name("MESH")
      ->required();
  command.add_option("--from", options.from, "Layout that the tensor has")
      ->type_name("LAYOUT")
      ->required();
  command.add_option("--to", options.to, "Layout that it is to have")
      ->type_name("LAYOUT")
      ->required();
  command.add_option("--cluster", options.cluster, "Cluster whose prices count")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  command.add_option("--cost-model", options.cost_model, "Cost model (default: the cluster's)")
      ->type_name("NAME");
  command
      .add_option("--policy", options.policy,
                  "What the target and layouts between may be: even, nonempty, fits or any")
      ->type_name("POLICY")
      ->capture_default_str();
  command.add_option("--memory", options.memory, "Most bytes a rank may hold in a step, as 80GB")
      ->type_name("BYTES");
  command.add_flag("--allow-shard-to-partial", options.allow_shard_to_partial,
                   "Let a shard become a partial without communication");
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
