#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/output_file.hpp"
#include "core/base/text.hpp"
#include "core/cost/make_cost_model.hpp"
#include "core/pack/foreign_call.hpp"
#include "tools/commands/commands.hpp"
#include "tools/flag_values.hpp"
#include "tools/op_names.hpp"
#include "tools/selection_bench.hpp"
#include "tools/selection_bench_report.hpp"

namespace onedim {
namespace {

constexpr uint64_t kMostDraws = 1'000'000;
constexpr std::string_view kSubject = "select";

struct BenchFlags {
  std::string subject;
  std::string ops = "mm,add.Tensor,addmm,bmm";
  std::string meshes = "8; 8x8; 2x8x8";
  std::string cluster = "h100";
  std::string inputs;
  std::vector<std::string> attributes;
  std::string draws = "1000";
  std::string seed = "1";
  std::string save, compare, draws_out;
};

// What the flags say; the calls belong to ops of the registry.
struct BenchPlan {
  struct Subject {
    const Op* op = nullptr;
    Call call;
  };
  std::vector<Subject> subjects;
  std::vector<Mesh> meshes;
  Cluster cluster;
  int64_t draws = 0;
  uint64_t seed = 0;
};

// `8x8`, its dims named a, b, ..., or `dp=8,tp=8`.
Result<Mesh> parse_bench_mesh(std::string_view text) {
  if (text.find('=') != std::string_view::npos) return Mesh::parse(text);
  std::string named;
  char name = 'a';
  for (const std::string_view size : split_top_level(text, 'x')) {
    const bool is_number = !size.empty() && size.find_first_not_of("0123456789") == size.npos;
    if (!is_number)
      return invalid_argument("{} is no mesh, expected one such as 8, 2x8x8 or dp=8,tp=4",
                              quoted_excerpt(text));
    named += fmt::format("{}{}={}", named.empty() ? "" : ",", name++, size);
  }
  return Mesh::parse(named);
}

Result<std::vector<Mesh>> parse_meshes(std::string_view text) {
  std::vector<Mesh> meshes;
  for (const std::string_view piece : split_top_level(text, ';')) {
    const Result<Mesh> mesh = parse_bench_mesh(piece);
    if (!mesh.ok()) return annotate(mesh.status(), "--meshes");
    meshes.push_back(*mesh);
  }
  if (meshes.empty()) return invalid_argument("--meshes: no mesh is given, such as '8; 8x8'");
  return meshes;
}

Result<BenchPlan::Subject> parse_given_call(const Op& op, const BenchFlags& flags) {
  if (flags.inputs.find('@') != std::string::npos)
    return invalid_argument("--inputs: layouts are drawn here; leave out what is behind @");
  Result<CallText> call = parse_call(op.schema, flags.inputs, flags.attributes);
  if (!call.ok()) return annotate(call.status(), "--inputs");
  const ForeignCall running(op, "infer");
  if (const auto outputs = op.infer(call->call); !outputs.ok())
    return annotate(outputs.status(), "--inputs");
  return BenchPlan::Subject{&op, std::move(call->call)};
}

Result<BenchPlan::Subject> parse_subject(const Registry& registry, std::string_view name,
                                         const BenchFlags& flags) {
  const Result<const Op*> op = find_op(registry, name);
  if (!op.ok()) return annotate(op.status(), "--ops");
  if (!flags.inputs.empty()) return parse_given_call(**op, flags);
  const Result<std::string> standard = default_bench_call(**op);
  if (!standard.ok()) return standard.status();
  Result<CallText> call = parse_call((*op)->schema, *standard);
  if (!call.ok()) return call.status();
  return BenchPlan::Subject{*op, std::move(call->call)};
}

Result<std::vector<BenchPlan::Subject>> parse_subjects(const Registry& registry,
                                                       const BenchFlags& flags) {
  const std::vector<std::string_view> names = split_top_level(flags.ops, ',');
  if (std::find(names.begin(), names.end(), "") != names.end() || names.empty())
    return invalid_argument("--ops: {} has an op without a name, expected a list such as mm,bmm",
                            quoted_excerpt(flags.ops));
  if (names.size() > 1 && !flags.inputs.empty())
    return invalid_argument("--inputs is a call of one op, but --ops gives {}", names.size());
  if (flags.inputs.empty() && !flags.attributes.empty())
    return invalid_argument("--attr is of the call that --inputs gives; give that, too");
  std::vector<BenchPlan::Subject> subjects;
  for (const std::string_view name : names) {
    Result<BenchPlan::Subject> subject = parse_subject(registry, name, flags);
    if (!subject.ok()) return subject.status();
    subjects.push_back(*std::move(subject));
  }
  return subjects;
}

// All that can be wrong is found before the packs are loaded, but for what only they know.
Result<BenchPlan> read_flags(Session& session, const BenchFlags& flags) {
  if (flags.subject != kSubject) {
    return invalid_argument("there is no bench {}, expected select", quoted_excerpt(flags.subject));
  }
  BenchPlan plan;
  const Result<uint64_t> draws = parse_whole("--draws", flags.draws, 1, kMostDraws);
  if (!draws.ok()) return draws.status();
  const Result<uint64_t> seed = parse_whole("--seed", flags.seed, 0, UINT64_MAX);
  if (!seed.ok()) return seed.status();
  Result<std::vector<Mesh>> meshes = parse_meshes(flags.meshes);
  if (!meshes.ok()) return meshes.status();
  Result<Cluster> cluster = load_cluster(flags.cluster);
  if (!cluster.ok()) return cluster.status();
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  Result<std::vector<BenchPlan::Subject>> subjects = parse_subjects(**registry, flags);
  if (!subjects.ok()) return subjects.status();
  plan.draws = static_cast<int64_t>(*draws);
  plan.seed = *seed;
  plan.meshes = *std::move(meshes);
  plan.cluster = *std::move(cluster);
  plan.subjects = *std::move(subjects);
  return plan;
}

SelectionRow described(const BenchPlan::Subject& subject, const Mesh& mesh, int64_t draws) {
  SelectionRow row;
  row.op = subject.op->name();
  row.mesh.assign(mesh.sizes().begin(), mesh.sizes().end());
  row.inputs = format_call(subject.call, std::vector<Domain>(subject.call.inputs.size()));
  row.draws = draws;
  return row;
}

// The layouts drawn, for other programs to decide on.
Json draws_json(const SelectionBench& bench, const SelectionRow& row, const Call& call,
                const Mesh& mesh) {
  Json draws = Json::array();
  for (const LayoutDraw& draw : bench.draws()) {
    Json layouts = Json::array();
    for (size_t slot = 0; slot < draw.size(); ++slot)
      layouts.push_back(call.inputs[slot] ? format_layout(draw[slot], mesh) : "-");
    draws.push_back(std::move(layouts));
  }
  return {{"op", row.op}, {"mesh", row.mesh}, {"inputs", format_inputs(call)}, {"draws", draws}};
}

// Times every op on every mesh; `drawn` gets the layouts.
Result<SelectionReport> measure(Session& session, const BenchPlan& plan, Json& drawn) {
  SelectionReport report;
  report.cluster = plan.cluster.name;
  report.seed = plan.seed;
  report.cores = static_cast<int>(std::thread::hardware_concurrency());
  if (::getloadavg(&report.load, 1) != 1) report.load = -1;
  for (const BenchPlan::Subject& subject : plan.subjects) {
    for (const Mesh& mesh : plan.meshes) {
      SelectionRow row = described(subject, mesh, plan.draws);
      const std::string name = fmt::format("{} on {}", row.op, mesh_text(row.mesh));
      session.progress(fmt::format("timing {}", name));
      Result<std::unique_ptr<const CostModel>> model = make_cost_model(plan.cluster, mesh);
      if (!model.ok()) return model.status();
      SelectionBench bench(*session.registry().value(), *subject.op, subject.call,
                           *std::move(model), plan.draws, plan.seed);
      const Result<SelectionTimes> times = measure_selection(bench, plan.draws);
      if (!times.ok()) return annotate(times.status(), name);
      row.times = *times;
      drawn.push_back(draws_json(bench, row, subject.call, mesh));
      report.rows.push_back(std::move(row));
    }
  }
  return report;
}

Status write_json_file(std::string_view flag, const std::string& path, const Json& document) {
  if (path.empty()) return absl::OkStatus();
  return annotate(write_text_file(path, document.dump() + '\n'), flag);
}

Result<ExitCode> run_bench(Session& session, const BenchFlags& flags) {
  std::optional<SelectionReport> earlier;
  if (!flags.compare.empty()) {
    Result<SelectionReport> read = read_selection_report(flags.compare);
    if (!read.ok()) return read.status();
    earlier = *std::move(read);
  }
  const Result<BenchPlan> plan = read_flags(session, flags);
  if (!plan.ok()) return plan.status();
  Json drawn = Json::array();
  const Result<SelectionReport> report = measure(session, *plan, drawn);
  if (!report.ok()) return report.status();
  Json document = report_json(*report);
  if (Status status = write_json_file("--save", flags.save, document); !status.ok()) return status;
  const Json draws{{"format", "onedim.draws/1"}, {"seed", plan->seed}, {"rows", std::move(drawn)}};
  if (Status status = write_json_file("--draws-out", flags.draws_out, draws); !status.ok())
    return status;
  SelectionComparison comparison;
  if (earlier) comparison = compare_reports(*earlier, *report);
  if (session.flags.json) {
    if (earlier) document["compared"] = comparison_json(comparison);
    session.write_json(document);
  } else {
    session.write(report_text(*report));
    if (earlier) session.write(comparison_text(comparison, flags.compare));
  }
  const bool is_in_vain = earlier && !comparison.has_matches();
  return comparison.has_other_choices() || is_in_vain ? ExitCode::kFindings : ExitCode::kFine;
}

void add_flags(CLI::App& command, BenchFlags& flags) {
  command.add_option("subject", flags.subject, "What to time: select")
      ->type_name("SUBJECT")
      ->required();
  command.add_option("--ops", flags.ops, "Ops, such as mm,bmm")
      ->type_name("OP,...")
      ->capture_default_str();
  command.add_option("--meshes", flags.meshes, "Meshes, outermost dim first, such as '8; 2x8x8'")
      ->type_name("MESH;...")
      ->capture_default_str();
  command.add_option("--cluster", flags.cluster, "Cluster whose prices count")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  command
      .add_option("--inputs", flags.inputs,
                  "The call of the one op, such as 'f32[64,32]; f32[32,16]'")
      ->type_name("TENSORS");
  command.add_option("--attr", flags.attributes, "Attribute of that call (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--draws", flags.draws, "Random input layouts, and uncached decisions timed")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--seed", flags.seed, "Seed of the draws")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--save", flags.save, "Write the JSON document here, too")->type_name("FILE");
  command.add_option("--compare", flags.compare, "Compare with a document that was saved")
      ->type_name("FILE");
  command.add_option("--draws-out", flags.draws_out, "Write the layouts drawn here, as JSON")
      ->type_name("FILE");
}

}  // namespace

void add_bench(CLI::App& app, Session& session) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = app.add_subcommand("bench", "Time how layouts are chosen");
  add_flags(*command, *flags);
  command->footer(
      "Uncached: all decisions and plans are forgotten before each; what depends on the mesh\n"
      "alone stays. With --compare: exit code 1 if other layouts cost other sums, or if no row\n"
      "could be compared.\n"
      "Example: onedim bench select --ops mm --meshes '8; 8x8'");
  command->callback([flags, &session] {
    session.choose([flags, &session] { return run_bench(session, *flags); });
  });
}

}  // namespace onedim
