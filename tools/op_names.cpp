#include "tools/op_names.hpp"

#include <fmt/ranges.h>

#include "core/base/text.hpp"

namespace onedim {
namespace {

Status unknown_op(const Registry& registry, std::string_view name) {
  std::vector<std::string> names = registry.op_names();
  // A misspelt base name is nearer to a base name than to any overload.
  for (const std::string& full : registry.op_names())
    names.push_back(full.substr(0, full.rfind('.')));
  const std::string hint = did_you_mean(name, names);
  return invalid_argument("unknown op \"{}\"{}", name,
                          hint.empty() ? "; `onedim ops` lists the ops of the packs found" : hint);
}

Status no_pattern(std::string_view text) {
  return invalid_argument(
      "\"{}\" names no op: only NAME.* stands for several, the overloads of NAME; `onedim ops` "
      "without a name lists all",
      text);
}

}  // namespace

std::string canonical_op_name(std::string_view text) {
  if (text.starts_with("aten.")) text.remove_prefix(5);
  if (text.ends_with(".default")) text.remove_suffix(8);
  return std::string(text);
}

std::vector<const Op*> ops_of_base(const Registry& registry, const std::string& base) {
  std::vector<const Op*> ops;
  for (const Op* op : registry.ops()) {
    if (op->name() == base || op->name().starts_with(base + ".")) ops.push_back(op);
  }
  return ops;
}

Result<std::vector<const Op*>> find_ops(const Registry& registry, std::string_view text) {
  std::string name = canonical_op_name(text);
  const bool wants_all = name.ends_with(".*");
  if (wants_all) name.resize(name.size() - 2);
  if (const Op* exact = registry.find(name); exact != nullptr && !wants_all) {
    return std::vector<const Op*>{exact};
  }
  std::vector<const Op*> ops = ops_of_base(registry, name);
  if (ops.empty() && name.find('*') != std::string::npos) return no_pattern(text);
  if (ops.empty()) return unknown_op(registry, name);
  return ops;
}

Result<const Op*> find_op(const Registry& registry, std::string_view text) {
  const Result<std::vector<const Op*>> ops = find_ops(registry, text);
  if (!ops.ok()) return ops.status();
  if (ops->size() == 1) return ops->front();
  std::vector<std::string> names;
  for (const Op* op : *ops) names.push_back(op->name());
  return invalid_argument("\"{}\" names {} ops; give one of {}", text, names.size(),
                          fmt::join(names, ", "));
}

}  // namespace onedim
