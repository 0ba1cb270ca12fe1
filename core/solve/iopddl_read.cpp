#include "core/solve/iopddl_read.hpp"

#include <array>
#include <limits>

#include "core/base/input_file.hpp"
#include "core/graph/json_file.hpp"
#include "core/graph/json_keys.hpp"
#include "core/solve/network_check.hpp"

namespace onedim {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

constexpr std::string_view kFormat = "IOPDDL";
constexpr std::array<std::string_view, 2> kRootKeys = {"format", "problem"};
constexpr std::array<std::string_view, 4> kProblemKeys = {"name", "nodes", "edges", "usage_limit"};
constexpr std::array<std::string_view, 3> kNodeKeys = {"intervals", "costs", "usages"};
constexpr std::array<std::string_view, 2> kEdgeKeys = {"nodes", "costs"};

Result<std::vector<int64_t>> read_numbers(element list, std::string_view key, size_t index) {
  array items;
  if (list.get(items) != simdjson::SUCCESS)
    return invalid_argument("\"{}\"[{}] must be a list of whole numbers", key, index);
  std::vector<int64_t> numbers;
  numbers.reserve(items.size());
  for (const element item : items) {
    int64_t number = 0;
    if (item.get(number) != simdjson::SUCCESS) {
      return invalid_argument("\"{}\"[{}][{}] must be a whole number of 64 bits", key, index,
                              numbers.size());
    }
    numbers.push_back(number);
  }
  return numbers;
}

// One list per node or edge.
Result<std::vector<std::vector<int64_t>>> read_lists(const JsonKeys& keys, std::string_view key) {
  const Result<array> lists = keys.list(key);
  if (!lists.ok()) return lists.status();
  std::vector<std::vector<int64_t>> read;
  for (const element list : *lists) {
    Result<std::vector<int64_t>> numbers = read_numbers(list, key, read.size());
    if (!numbers.ok()) return numbers.status();
    read.push_back(*std::move(numbers));
  }
  return read;
}

Status check_count(size_t found, size_t expected, std::string_view key, std::string_view like) {
  if (found == expected) return absl::OkStatus();
  return invalid_argument("\"{}\" has {} entries and \"{}\" {}; expected as many", key, found, like,
                          expected);
}

Result<JsonKeys> keys_of(element parent, std::string_view key,
                         std::span<const std::string_view> known) {
  element child;
  if (parent[key].get(child) != simdjson::SUCCESS)
    return invalid_argument("\"{}\" is missing", key);
  Result<JsonKeys> keys = JsonKeys::create(child, known);
  if (!keys.ok()) return annotate(keys.status(), fmt::format("\"{}\"", key));
  return keys;
}

Status read_uses(const JsonKeys& keys, CostNetwork& network) {
  const auto intervals = read_lists(keys, "intervals");
  if (!intervals.ok()) return intervals.status();
  auto usages = read_lists(keys, "usages");
  if (!usages.ok()) return usages.status();
  const size_t count = network.nodes.size();
  if (Status status = check_count(intervals->size(), count, "intervals", "costs"); !status.ok())
    return status;
  if (Status status = check_count(usages->size(), count, "usages", "costs"); !status.ok())
    return status;
  for (size_t node = 0; node < count; ++node) {
    const std::vector<int64_t>& interval = (*intervals)[node];
    if (interval.size() != 2)
      return invalid_argument("\"intervals\"[{}] has {} numbers; expected begin and end", node,
                              interval.size());
    network.nodes[node].uses.push_back({interval[0], interval[1], std::move((*usages)[node])});
  }
  return absl::OkStatus();
}

Status read_nodes(element problem, CostNetwork& network) {
  const Result<JsonKeys> keys = keys_of(problem, "nodes", kNodeKeys);
  if (!keys.ok()) return keys.status();
  auto costs = read_lists(*keys, "costs");
  if (!costs.ok()) return annotate(costs.status(), "\"nodes\"");
  for (std::vector<int64_t>& list : *costs) network.add_node(std::move(list));
  const bool has_uses = keys->has("intervals") || keys->has("usages");
  if (!has_uses && !network.memory_limit) return absl::OkStatus();
  const Status status = read_uses(*keys, network);
  return status.ok() ? status : annotate(status, "\"nodes\"");
}

int values_of(const CostNetwork& network, int64_t node) {
  return static_cast<int>(network.nodes[node].costs.size());
}

Status read_edges(element problem, CostNetwork& network) {
  const Result<JsonKeys> keys = keys_of(problem, "edges", kEdgeKeys);
  if (!keys.ok()) return keys.status();
  const auto ends = read_lists(*keys, "nodes");
  if (!ends.ok()) return annotate(ends.status(), "\"edges\"");
  auto costs = read_lists(*keys, "costs");
  if (!costs.ok()) return annotate(costs.status(), "\"edges\"");
  if (Status status = check_count(costs->size(), ends->size(), "costs", "nodes"); !status.ok())
    return annotate(status, "\"edges\"");
  for (size_t edge = 0; edge < ends->size(); ++edge) {
    const std::vector<int64_t>& pair = (*ends)[edge];
    if (pair.size() != 2)
      return invalid_argument("\"edges\": \"nodes\"[{}] has {} numbers; expected two nodes", edge,
                              pair.size());
    for (const int64_t node : pair) {
      if (node < 0 || node >= static_cast<int64_t>(network.nodes.size()))
        return invalid_argument("edge {} joins node {}, of which there are {}", edge, node,
                                network.nodes.size());
    }
    const int table = network.add_table(values_of(network, pair[0]), values_of(network, pair[1]),
                                        std::move((*costs)[edge]));
    network.add_edge(static_cast<int>(pair[0]), static_cast<int>(pair[1]), table);
  }
  return absl::OkStatus();
}

Result<CostNetwork> read_problem(element root) {
  const Result<JsonKeys> outer = JsonKeys::create(root, kRootKeys);
  if (!outer.ok()) return outer.status();
  const Result<JsonKeys> keys = keys_of(root, "problem", kProblemKeys);
  if (!keys.ok()) return keys.status();
  const element problem = root["problem"].value_unsafe();
  CostNetwork network;
  if (keys->has("name")) {
    const Result<std::string_view> name = keys->text("name");
    if (!name.ok()) return name.status();
    network.name = *name;
  }
  if (keys->has("usage_limit")) {
    int64_t limit = 0;
    if (problem["usage_limit"].get(limit) != simdjson::SUCCESS)
      return invalid_argument("\"usage_limit\" must be a whole number of 64 bits");
    network.memory_limit = limit;
  }
  if (Status status = read_nodes(problem, network); !status.ok()) return status;
  if (Status status = read_edges(problem, network); !status.ok()) return status;
  if (Status status = check_network(network); !status.ok()) return status;
  return network;
}

}  // namespace

Result<CostNetwork> parse_iopddl(const std::string& text, const std::string& name) {
  const Result<JsonFile> file = parse_json(text, name, kFormat);
  if (!file.ok()) return file.status();
  Result<CostNetwork> network = read_problem(file->root);
  if (!network.ok()) return annotate(network.status(), fmt::format("\"{}\"", name));
  return network;
}

Result<CostNetwork> read_iopddl(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text.ok()) return text.status();
  return parse_iopddl(*text, path);
}

}  // namespace onedim
