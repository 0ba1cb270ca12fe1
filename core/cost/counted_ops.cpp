#include "core/cost/counted_ops.hpp"

#include <toml++/toml.h>

#include <fstream>
#include <iterator>

#include "core/base/text.hpp"
#include "core/cost/data_folder.hpp"

namespace onedim {
namespace {

constexpr std::string_view kKey = "counts_flops";

Status fault(const std::filesystem::path& file, const toml::source_region& at,
             std::string_view what) {
  return invalid_argument("{}:{}: {}", file.string(), at.begin.line, what);
}

}  // namespace

Result<CountedOps> CountedOps::parse(std::string_view text, const std::filesystem::path& file) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return fault(file, error.source(), error.description());
  }
  for (const auto& [key, node] : table) {
    if (key.str() == kKey) continue;
    return fault(file, key.source(),
                 fmt::format("unknown key {}, expected {}", quoted_excerpt(key.str()), kKey));
  }
  const toml::array* list = table[kKey].as_array();
  if (list == nullptr) return fault(file, table.source(), fmt::format("{} is missing", kKey));
  CountedOps ops;
  for (const toml::node& node : *list) {
    const toml::value<std::string>* name = node.as_string();
    if (name == nullptr)
      return fault(file, node.source(), fmt::format("{}: expected names of ops", kKey));
    if (!ops.names_.insert(name->get()).second)
      return fault(file, node.source(), fmt::format("{} stands there twice", name->get()));
  }
  return ops;
}

Result<CountedOps> CountedOps::load() {
  for (const std::filesystem::path& folder : data_folders("op_tables")) {
    const std::filesystem::path file = folder / "autoparallel.toml";
    std::ifstream stream(file);
    if (!stream) continue;
    Result<CountedOps> ops = parse(std::string(std::istreambuf_iterator<char>(stream), {}), file);
    if (!ops.ok()) return absl::UnavailableError(ops.status().message());
    return ops;
  }
  return absl::UnavailableError("op_tables/autoparallel.toml, which came with onedim, is gone");
}

}  // namespace onedim
