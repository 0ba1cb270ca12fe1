#include "tools/op_coverage.hpp"

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/strings/ascii.h>

#include <algorithm>

#include "core/base/input_file.hpp"
#include "core/base/text.hpp"
#include "core/graph/json_file.hpp"
#include "core/pack/closed_rules.hpp"
#include "core/pack/foreign_call.hpp"
#include "tools/op_names.hpp"

namespace onedim {
namespace {

using Names = absl::btree_set<std::string>;

std::vector<std::string> as_list(const Names& names) { return {names.begin(), names.end()}; }

bool distributes(const ClosedRule& closed) {
  const auto is_shard = [](const Placement& placement) { return placement.is_shard(); };
  const auto is_partial = [](const Placement& placement) { return placement.is_partial(); };
  const Rule& rule = closed.rule;
  if (std::any_of(rule.outputs.begin(), rule.outputs.end(), is_shard)) return true;
  if (std::any_of(rule.inputs.begin(), rule.inputs.end(), is_shard)) return true;
  if (rule.implied) return false;
  return std::any_of(rule.outputs.begin(), rule.outputs.end(), is_partial) ||
         std::any_of(rule.inputs.begin(), rule.inputs.end(), is_partial);
}

bool is_cuttable(const Dims& shape) {
  return std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size >= 2; });
}

bool has_cuttable(const Call& call, const std::vector<OptionalOutput>& outputs) {
  return std::any_of(
             call.inputs.begin(), call.inputs.end(),
             [](const OptionalMeta& input) { return input && is_cuttable(input->shape); }) ||
         std::any_of(outputs.begin(), outputs.end(), [](const OptionalOutput& output) {
           return output && is_cuttable(output->meta.shape);
         });
}

Status look_at_sample(const Op& op, const std::string& sample, const Registry& registry,
                      NamedOps& named) {
  const Result<CallText> text = parse_call(op.schema, sample);
  if (!text.ok()) return text.status();
  const ForeignCall running(op, "infer or the rules");
  const Result<std::vector<OptionalOutput>> outputs = op.infer(text->call);
  if (!outputs.ok()) return outputs.status();
  const Result<std::vector<ClosedRule>> rules = closed_rules(op, text->call, *outputs, registry);
  if (!rules.ok()) return rules.status();
  if (rules->empty()) return absl::FailedPreconditionError("no rule holds, not even R");
  if (std::any_of(rules->begin(), rules->end(), distributes)) named.replicates = false;
  if (has_cuttable(text->call, *outputs)) named.has_cuttable = true;
  return absl::OkStatus();
}

// What the op lacks to count, or "".
std::string lack_of(const Op& op, const Registry& registry, NamedOps& named) {
  if (op.find_kernel(ONEDIM_DEVICE_CPU) == nullptr) return "it has no kernel";
  const ForeignCall running(op, "the samples");
  const Result<std::vector<std::string>> samples = op.samples();
  if (!samples.ok()) return std::string(message_of(samples.status()));
  for (const std::string& sample : *samples) {
    const Status status = look_at_sample(op, sample, registry, named);
    if (!status.ok()) return fmt::format("sample \"{}\": {}", sample, message_of(status));
  }
  if (samples->size() >= kSamplesWanted) return "";
  return fmt::format("it has {} samples, at least {} are wanted", samples->size(), kSamplesWanted);
}

// The first lack found stands; it names the overload where that is not what was asked for.
void note_lack(const Op& op, const std::string& lack, NamedOps& named) {
  if (lack.empty() || !named.lack.empty()) return;
  named.lack = op.name() == named.name ? lack : fmt::format("{}: {}", op.name(), lack);
}

NamedOps look_at(const std::string& name, std::vector<const Op*> ops, const Registry& registry) {
  NamedOps named{name, std::move(ops), "", true, false, ""};
  if (named.ops.empty()) named.lack = "no pack offers it";
  for (const Op* op : named.ops) {
    note_lack(*op, lack_of(*op, registry, named), named);
  }
  if (named.ops.empty()) named.replicates = false;
  return named;
}

// What of the report speaks against its op, or "".
std::string finding_of(const OpReport& report) {
  if (report.crashed) return "the process that judged it ended early";
  if (!report.errors.empty()) return report.errors.front();
  const auto first = [](std::string_view word, const std::vector<RuleFinding>& findings) {
    return fmt::format("{} rule {} on {}", word, findings.front().rule, findings.front().case_text);
  };
  if (!report.incorrect.empty()) return first("incorrect", report.incorrect);
  if (!report.missing.empty()) return first("missing", report.missing);
  if (!report.unexercised.empty()) return first("unexercised", report.unexercised);
  return report.is_clean() ? "" : "wrong strategies";
}

std::string reason_of(const NamedOps& named, int64_t tried, int64_t combinations, int samples) {
  if (!named.has_cuttable) {
    return fmt::format("no tensor of its {} samples has a dim to cut, and no partial holds",
                       samples);
  }
  return fmt::format(
      "of {} placements of its inputs on {} samples{} none but R makes a placed output", tried,
      samples, tried < combinations ? fmt::format(", out of {},", combinations) : "");
}

bool is_name_byte(char byte) { return absl::ascii_isalnum(byte) || byte == '_' || byte == '.'; }

}  // namespace

Result<std::vector<std::string>> read_graph_ops(const std::string& path) {
  const Result<JsonFile> file = read_json_file(path, "onedim.graph/1");
  if (!file.ok()) return file.status();
  simdjson::dom::array nodes;
  if (file->root["nodes"].get(nodes) != simdjson::SUCCESS) {
    return invalid_argument("\"{}\" has no list \"nodes\"", path);
  }
  Names names;
  size_t index = 0;
  for (const simdjson::dom::element node : nodes) {
    std::string_view op;
    if (node["op"].get(op) != simdjson::SUCCESS) {
      return invalid_argument("\"{}\": nodes[{}] has no \"op\"", path, index);
    }
    names.insert(canonical_op_name(op));
    ++index;
  }
  return as_list(names);
}

Result<std::vector<std::string>> read_op_names(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text.ok()) return text.status();
  Names names;
  std::string_view rest = *text;
  for (int64_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const std::string_view name = trim(line.substr(0, line.find('#')));
    if (!std::all_of(name.begin(), name.end(), is_name_byte)) {
      return invalid_argument("\"{}\": line {}: {} is no op name; expected one name a line", path,
                              number, quoted_excerpt(name));
    }
    if (!name.empty()) names.insert(canonical_op_name(name));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (names.empty()) return invalid_argument("\"{}\" names no op; expected one name a line", path);
  return as_list(names);
}

size_t OpCoverage::present() const {
  return std::count_if(names.begin(), names.end(),
                       [](const NamedOps& named) { return named.lack.empty(); });
}

OpCoverage op_coverage(const Registry& registry, const std::vector<std::string>& names,
                       bool are_base_names) {
  OpCoverage coverage;
  for (const std::string& name : names) {
    std::vector<const Op*> ops;
    if (are_base_names) {
      ops = ops_of_base(registry, name);
    } else if (const Op* op = registry.find(name)) {
      ops.push_back(op);
    }
    coverage.names.push_back(look_at(name, std::move(ops), registry));
  }
  return coverage;
}

std::vector<const Op*> ops_in_question(const OpCoverage& coverage, bool all) {
  std::vector<const Op*> chosen;
  absl::btree_set<const Op*> seen;
  for (const NamedOps& named : coverage.names) {
    if (!named.lack.empty() || !(all || named.replicates)) continue;
    for (const Op* op : named.ops) {
      if (seen.insert(op).second) chosen.push_back(op);
    }
  }
  return chosen;
}

void add_evidence(const std::vector<OpReport>& reports, OpCoverage& coverage) {
  absl::btree_map<std::string, const OpReport*> by_op;
  for (const OpReport& report : reports) by_op[report.op] = &report;
  for (NamedOps& named : coverage.names) {
    int64_t tried = 0, combinations = 0;
    int samples = 0;
    for (const Op* op : named.ops) {
      const auto found = by_op.find(op->name());
      if (found == by_op.end()) continue;
      const OpReport& report = *found->second;
      note_lack(*op, finding_of(report), named);
      tried += report.tried;
      combinations += report.combinations;
      samples += report.samples;
    }
    if (named.replicates && samples > 0)
      named.reason = reason_of(named, tried, combinations, samples);
  }
}

}  // namespace onedim
