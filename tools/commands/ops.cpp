#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/pack/foreign_call.hpp"
#include "core/validate/worker.hpp"
#include "core/validate/worker_pool.hpp"
#include "tools/commands/commands.hpp"
#include "tools/op_coverage.hpp"
#include "tools/op_names.hpp"
#include "tools/text_table.hpp"
#include "tools/worker_command.hpp"

namespace onedim {
namespace {

struct OpsOptions {
  std::vector<std::string> names;
  std::string graph;
  std::string name_list;
  bool prove = false;
};

Json kernel_dtypes(const Op& op, int device) {
  Json dtypes = Json::array();
  const Kernel* kernel = op.find_kernel(device);
  if (kernel == nullptr) return dtypes;
  for (int dtype = 0; dtype < kDTypeCount; ++dtype) {
    if ((kernel->dtypes >> dtype & 1) != 0) dtypes.push_back(name_of(static_cast<DType>(dtype)));
  }
  return dtypes;
}

Result<std::vector<std::string>> samples_of(const Op& op) {
  const ForeignCall running(op, "the samples");
  return op.samples();
}

Result<Json> op_json(const Op& op) {
  const Result<std::vector<std::string>> samples = samples_of(op);
  if (!samples.ok()) return annotate(samples.status(), op.name());
  return Json{{"name", op.name()},
              {"pack", op.pack},
              {"form_of", op.variant_of.empty() ? Json(nullptr) : Json(op.variant_of)},
              {"schema", format_schema(op.schema)},
              {"summary", op.summary},
              {"example", op.example},
              {"samples", samples->size()},
              {"sample_calls", *samples},
              {"position_aware", op.is_position_aware()},
              {"compute", kernel_dtypes(op, ONEDIM_DEVICE_CPU)},
              {"compute_cuda", kernel_dtypes(op, ONEDIM_DEVICE_CUDA)}};
}

Result<Json> to_json(const std::vector<const Op*>& ops) {
  Json list = Json::array();
  for (const Op* op : ops) {
    Result<Json> json = op_json(*op);
    if (!json.ok()) return json.status();
    list.push_back(*std::move(json));
  }
  return Json{{"ops", std::move(list)}};
}

std::string to_text(const std::vector<const Op*>& ops) {
  std::vector<TextRow> rows = {{"op", "pack", "summary"}};
  for (const Op* op : ops) rows.push_back({op->name(), op->pack, op->summary});
  return format_table(rows);
}

// All that is known of one op, for `ops NAME`.
Result<std::string> op_text(const Op& op) {
  const Result<std::vector<std::string>> samples = samples_of(op);
  if (!samples.ok()) return annotate(samples.status(), op.name());
  return fmt::format("{}\n  {}\n  pack {}, {} samples, computes {}{}\n  example: {}\n",
                     format_schema(op.schema), op.summary, op.pack, samples->size(),
                     kernel_dtypes(op, ONEDIM_DEVICE_CPU).dump(),
                     op.is_position_aware() ? ", position-aware" : "", op.example);
}

Result<std::vector<const Op*>> selected_ops(const Registry& registry,
                                            const std::vector<std::string>& names) {
  if (names.empty()) return registry.ops();
  std::vector<const Op*> selected;
  for (const std::string& name : names) {
    const Result<std::vector<const Op*>> ops = find_ops(registry, name);
    if (!ops.ok()) return ops.status();
    for (const Op* op : *ops) {
      if (std::find(selected.begin(), selected.end(), op) == selected.end()) selected.push_back(op);
    }
  }
  return selected;
}

Result<ExitCode> list_ops(Session& session, const std::vector<std::string>& names) {
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<std::vector<const Op*>> ops = selected_ops(**registry, names);
  if (!ops.ok()) return ops.status();
  if (session.flags.json) {
    const Result<Json> json = to_json(*ops);
    if (!json.ok()) return json.status();
    session.write_json(*json);
  } else if (names.empty()) {
    session.write(to_text(*ops));
  } else {
    for (const Op* op : *ops) {
      const Result<std::string> text = op_text(*op);
      if (!text.ok()) return text.status();
      session.write(*text);
    }
  }
  return ExitCode::kFine;
}

std::string coverage_text(const OpCoverage& coverage) {
  std::string missing, replicates;
  size_t replicated = 0;
  for (const NamedOps& named : coverage.names) {
    if (named.ops.empty())
      missing += fmt::format("missing: {}\n", named.name);
    else if (!named.lack.empty())
      missing += fmt::format("incomplete: {}: {}\n", named.name, named.lack);
    if (!named.lack.empty() || !named.replicates) continue;
    ++replicated;
    replicates += fmt::format("replicate only: {}: {}\n", named.name, named.reason);
  }
  std::string text = fmt::format("{} of {} present", coverage.present(), coverage.names.size());
  if (replicated > 0) text += fmt::format(", {} of them replicate only", replicated);
  return text + "\n" + missing + replicates;
}

// `missing` are all that do not count as present, `incomplete` those of them that are there.
Json coverage_json(const OpCoverage& coverage) {
  Json missing = Json::array(), incomplete = Json::array();
  Json replicates = Json::array(), reasons = Json::object();
  for (const NamedOps& named : coverage.names) {
    if (!named.lack.empty()) missing.push_back(named.name);
    if (!named.lack.empty() && !named.ops.empty())
      incomplete.push_back({{"name", named.name}, {"reason", named.lack}});
    if (!named.lack.empty() || !named.replicates) continue;
    replicates.push_back(named.name);
    reasons[named.name] = named.reason;
  }
  return {{"needed", coverage.names.size()},         {"present", coverage.present()},
          {"missing", std::move(missing)},           {"incomplete", std::move(incomplete)},
          {"replicate_only", std::move(replicates)}, {"replicate_reasons", std::move(reasons)}};
}

Status prove(Session& session, bool all, OpCoverage& coverage) {
  std::vector<OpRequest> requests;
  for (const Op* op : ops_in_question(coverage, all)) requests.push_back({op->name(), {}, {}});
  if (requests.empty()) return absl::OkStatus();
  const auto packs = session.pack_reports({});
  if (!packs.ok()) return packs.status();
  PoolOptions pool;
  pool.command = child_command({"validate-worker", "--options", options_text({})}, **packs);
  pool.workers = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  pool.progress = [&session](size_t done, size_t total, const std::string& op) {
    session.progress(fmt::format("validating {}/{} {}", done + 1, total, op));
  };
  const Result<std::vector<OpReport>> reports = run_in_workers(requests, pool);
  if (!reports.ok()) return reports.status();
  add_evidence(*reports, coverage);
  return absl::OkStatus();
}

Result<ExitCode> show_coverage(Session& session, const OpsOptions& options) {
  const bool is_graph = !options.graph.empty();
  const Result<std::vector<std::string>> names =
      is_graph ? read_graph_ops(options.graph) : read_op_names(options.name_list);
  if (!names.ok()) return names.status();
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  OpCoverage coverage = op_coverage(**registry, *names, !is_graph);
  if (Status status = prove(session, options.prove, coverage); !status.ok()) return status;
  if (session.flags.json) {
    session.write_json(coverage_json(coverage));
  } else {
    session.write(coverage_text(coverage));
  }
  return coverage.present() == coverage.names.size() ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace

void add_ops(CLI::App& app, Session& session) {
  auto options = std::make_shared<OpsOptions>();
  CLI::App* command =
      app.add_subcommand("ops", "List the ops of all packs, or see which ones are missing");
  CLI::Option* names =
      command->add_option("op", options->names, "Ops to describe, such as mm or add.*")
          ->type_name("OP");
  CLI::Option* graph =
      command->add_option("--for", options->graph, "Which ops of this graph file are there");
  graph->type_name("GRAPH.JSON")->excludes(names);
  command
      ->add_option("--against", options->name_list,
                   "Which of these base names, one a line, are there")
      ->type_name("NAMES.TXT")
      ->excludes(names)
      ->excludes(graph);
  command
      ->add_flag("--prove", options->prove,
                 "Validate all these ops; one whose rules are not exactly those that hold does "
                 "not count (takes minutes)")
      ->excludes(names);
  command->footer(
      "With --for and --against: exit code 1 if any op is missing or incomplete: without kernel,\n"
      "with fewer than 5 samples or with one whose rules do not close.\n"
      "Example: onedim ops mm");
  command->callback([options, &session] {
    const bool has_list = !options->graph.empty() || !options->name_list.empty();
    session.choose([options, has_list, &session]() -> Result<ExitCode> {
      if (options->prove && !has_list)
        return invalid_argument("--prove needs the ops it is about: --for or --against");
      return has_list ? show_coverage(session, *options) : list_ops(session, options->names);
    });
  });
}

}  // namespace onedim
