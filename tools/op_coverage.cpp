#include "tools/op_coverage.hpp"

#include <absl/container/btree_set.h>

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

Result<bool> distributes_in_sample(const Op& op, const std::string& sample,
                                   const Registry& registry) {
  const Result<CallText> text = parse_call(op.schema, sample);
  if (!text.ok()) return text.status();
  const ForeignCall running(op, "infer or the rules");
  const Result<std::vector<OptionalOutput>> outputs = op.infer(text->call);
  if (!outputs.ok()) return outputs.status();
  const Result<std::vector<ClosedRule>> rules = closed_rules(op, text->call, *outputs, registry);
  if (!rules.ok()) return rules.status();
  return std::any_of(rules->begin(), rules->end(), distributes);
}

Result<bool> is_replicate_only(const Op& op, const Registry& registry) {
  const ForeignCall running(op, "the samples");
  const Result<std::vector<std::string>> samples = op.samples();
  if (!samples.ok()) return annotate(samples.status(), op.name());
  for (const std::string& sample : *samples) {
    const Result<bool> found = distributes_in_sample(op, sample, registry);
    if (!found.ok()) return annotate(found.status(), fmt::format("sample of {}", op.name()));
    if (*found) return false;
  }
  return true;
}

Result<bool> are_replicate_only(const std::vector<const Op*>& ops, const Registry& registry) {
  for (const Op* op : ops) {
    const Result<bool> only = is_replicate_only(*op, registry);
    if (!only.ok() || !*only) return only;
  }
  return true;
}

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
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const std::string_view name = trim(line.substr(0, line.find('#')));
    if (!name.empty()) names.insert(canonical_op_name(name));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (names.empty()) return invalid_argument("\"{}\" names no op; expected one name a line", path);
  return as_list(names);
}

Result<OpCoverage> op_coverage(const Registry& registry, const std::vector<std::string>& names,
                               bool are_base_names) {
  OpCoverage coverage;
  coverage.needed = names.size();
  for (const std::string& name : names) {
    std::vector<const Op*> ops;
    if (are_base_names) {
      ops = ops_of_base(registry, name);
    } else if (const Op* op = registry.find(name)) {
      ops.push_back(op);
    }
    if (ops.empty()) {
      coverage.missing.push_back(name);
      continue;
    }
    ++coverage.present;
    const Result<bool> only = are_replicate_only(ops, registry);
    if (!only.ok()) return only.status();
    if (*only) coverage.replicate_only.push_back(name);
  }
  return coverage;
}

}  // namespace onedim
