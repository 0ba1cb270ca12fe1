#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/pack/foreign_call.hpp"
#include "core/pack/infer_check.hpp"
#include "tools/commands/commands.hpp"
#include "tools/golden_binding.hpp"
#include "tools/golden_compare.hpp"
#include "tools/golden_output.hpp"
#include "tools/op_names.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

constexpr size_t kMostDifferences = 10;  // printed; --json has all

struct CallOptions {
  std::string file;
  bool compare = false;
};

// One for each call of the file, in its order.
struct CallResult {
  std::string op;
  const Schema* schema = nullptr;  // of a known op
  std::vector<std::optional<Tensor>> outputs;
  std::string error;
  std::string difference;  // with --compare
  bool ok() const { return error.empty() && difference.empty(); }
  bool is_number(size_t output) const { return is_number_output(*schema, output, outputs.size()); }
};

struct CallReport {
  std::vector<CallResult> results;
  std::set<std::string> unknown;
  bool ok() const {
    return std::all_of(results.begin(), results.end(),
                       [](const CallResult& result) { return result.ok(); });
  }
};

Result<std::vector<std::optional<Tensor>>> run_call(const Op& op, const GoldenCall& golden) {
  Result<BoundCall> bound = bind_golden_call(op.schema, golden);
  if (!bound.ok()) return bound.status();
  std::vector<Tensor*> inputs;
  for (std::optional<Tensor>& input : bound->inputs) inputs.push_back(input ? &*input : nullptr);
  const ForeignCall running(op, "infer");
  return run_op(op, bound->call, inputs);
}

std::string difference_of(const Op& op, const CallResult& result, const GoldenCall& golden) {
  if (result.outputs.size() != golden.outputs.size()) {
    return fmt::format("{} outputs, expected {}", result.outputs.size(), golden.outputs.size());
  }
  for (size_t i = 0; i < golden.outputs.size(); ++i) {
    const std::string difference =
        result.is_number(i)
            ? number_difference(*result.outputs[i], golden.outputs[i])
            : output_difference(result.outputs[i], golden.outputs[i], op.has_undefined_content());
    if (difference.empty()) continue;
    return golden.outputs.size() == 1 ? difference : fmt::format("output {}: {}", i, difference);
  }
  return "";
}

CallResult make_result(const Op* op, const GoldenCall& golden, bool compare) {
  CallResult result{golden.op, nullptr, {}, {}, {}};
  if (op == nullptr) {
    result.error = fmt::format("unknown op \"{}\"", golden.op);
    return result;
  }
  result.schema = &op->schema;
  Result<std::vector<std::optional<Tensor>>> outputs = run_call(*op, golden);
  if (!outputs.ok()) {
    result.error = std::string(message_of(outputs.status()));
    return result;
  }
  result.outputs = *std::move(outputs);
  if (compare) result.difference = difference_of(*op, result, golden);
  return result;
}

CallReport run_calls(const Session& session, const Registry& registry,
                     const std::vector<GoldenCall>& calls, bool compare) {
  CallReport report;
  for (size_t index = 0; index < calls.size(); ++index) {
    if (index % 64 == 0) session.progress(fmt::format("call {} of {}", index, calls.size()));
    const Op* op = registry.find(canonical_op_name(calls[index].op));
    if (op == nullptr) report.unknown.insert(calls[index].op);
    report.results.push_back(make_result(op, calls[index], compare));
  }
  return report;
}

Json outputs_json(const CallResult& result) {
  Json outputs = Json::array();
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const std::optional<Tensor>& output = result.outputs[i];
    outputs.push_back(result.is_number(i) ? golden_number_json(*output) : golden_json(output));
  }
  return outputs;
}

Json to_json(const CallReport& report, bool compare) {
  Json calls = Json::array();
  for (const CallResult& result : report.results) {
    Json call = {{"op", result.op}, {"outputs", outputs_json(result)}};
    call["error"] = result.error.empty() ? Json() : Json(result.error);
    if (compare) call["difference"] = result.difference.empty() ? Json() : Json(result.difference);
    calls.push_back(std::move(call));
  }
  return {{"calls", std::move(calls)}, {"unknown", report.unknown}};
}

std::string outputs_text(const CallResult& result) {
  std::string text;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const std::optional<Tensor>& output = result.outputs[i];
    text += text.empty() ? "" : "; ";
    if (result.is_number(i)) {
      text += golden_number_json(*output).dump();
    } else {
      text += output ? format_meta(output->meta()) : "-";
    }
  }
  return text;
}

std::string to_text(const CallReport& report) {
  std::vector<TextRow> rows;
  for (const CallResult& result : report.results) {
    rows.push_back({std::to_string(rows.size()), result.op,
                    result.error.empty() ? outputs_text(result) : "error: " + result.error});
  }
  return format_table(rows);
}

std::string difference_lines(const CallReport& report) {
  std::string text;
  size_t count = 0;
  for (size_t index = 0; index < report.results.size(); ++index) {
    const CallResult& result = report.results[index];
    if (result.ok() || report.unknown.contains(result.op) || ++count > kMostDifferences) continue;
    text += fmt::format("call {} of {}: {}\n", index, result.op,
                        result.error.empty() ? result.difference : "error: " + result.error);
  }
  if (count > kMostDifferences) {
    text += fmt::format("... and {} more (--json lists all)\n", count - kMostDifferences);
  }
  for (const std::string& op : report.unknown) text += fmt::format("unknown op: {}\n", op);
  return text;
}

std::string comparison_text(const CallReport& report) {
  struct Count {
    size_t passed = 0;
    size_t failed = 0;
  };
  std::map<std::string, Count> counts;
  for (const CallResult& result : report.results) {
    Count& count = counts[result.op];
    ++(result.ok() ? count.passed : count.failed);
  }
  std::vector<TextRow> rows = {{"op", "passed", "failed"}};
  size_t passed = 0;
  for (const auto& [op, count] : counts) {
    passed += count.passed;
    rows.push_back({op, std::to_string(count.passed), std::to_string(count.failed)});
  }
  return format_table(rows) + difference_lines(report) +
         fmt::format("{} of {} calls agree\n", passed, report.results.size());
}

Result<ExitCode> run_call_command(Session& session, const CallOptions& options) {
  const Result<std::vector<GoldenCall>> calls = read_golden_calls(options.file);
  if (!calls.ok()) return calls.status();
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const CallReport report = run_calls(session, **registry, *calls, options.compare);
  if (session.flags.json) {
    session.write_json(to_json(report, options.compare));
  } else {
    session.write(options.compare ? comparison_text(report) : to_text(report));
  }
  return report.ok() ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace

void add_call(CLI::App& app, Session& session) {
  auto options = std::make_shared<CallOptions>();
  CLI::App* command = app.add_subcommand("call", "Run the CPU kernels on a file of calls");
  command
      ->add_option("--calls", options->file,
                   "Calls in the format onedim.golden_ops/1, plain or gzip")
      ->type_name("FILE")
      ->required();
  command->add_flag("--compare", options->compare, "Compare with the outputs in the file");
  command->footer(
      "Of an op whose outputs hold undefined content only shapes and dtypes are compared.\n"
      "Exit code 1 if an op is unknown, a call fails, or a result differs.\n"
      "Example: onedim call --calls calls.json --compare");
  command->callback([options, &session] {
    session.choose([options, &session] { return run_call_command(session, *options); });
  });
}

}  // namespace onedim
