#include <absl/container/flat_hash_map.h>

#include <array>

#include "core/base/text.hpp"
#include "core/graph/json_file.hpp"
#include "core/graph/move_plan_read.hpp"
#include "core/graph/node_strategy.hpp"
#include "core/graph/solution_file.hpp"
#include "core/pack/foreign_call.hpp"
#include "core/select/strategy.hpp"

namespace onedim {
namespace {

using Element = simdjson::dom::element;

constexpr std::string_view kFormat = "onedim.plan/1";
constexpr std::array<std::string_view, 8> kKeys = {"format",     "graph_hash", "mesh",  "cluster",
                                                   "cost_model", "given",      "nodes", "moves"};
constexpr std::array<std::string_view, 4> kNodeKeys = {"rules", "order", "inputs", "outputs"};
constexpr std::array<std::string_view, 12> kMoveKeys = {
    "value",  "values",    "from",    "to",    "consumers",
    "output", "steps",     "cost_us", "bytes", "lower_bound_bytes",
    "ratio",  "peak_bytes"};

class SolutionReader {
 public:
  explicit SolutionReader(const ResolvedGraph& resolved)
      : resolved_(resolved), graph_(*resolved.graph) {
    for (ValueId id = 0; id < graph_.value_count(); ++id) values_[graph_.values[id].name] = id;
    for (int node = 0; node < graph_.node_count(); ++node) nodes_[graph_.nodes[node].name] = node;
  }

  Result<ReadSolution> read(Element root) {
    const Result<JsonKeys> keys = JsonKeys::create(root, kKeys);
    if (!keys.ok()) return keys.status();
    if (Status status = read_head(*keys); !status.ok()) return status;
    if (Status status = read_given(*keys); !status.ok()) return status;
    if (Status status = read_nodes(*keys); !status.ok()) return status;
    if (Status status = read_moves(*keys); !status.ok()) return status;
    return std::move(read_);
  }

 private:
  Status read_head(const JsonKeys& keys) {
    if (Result<std::string_view> format = keys.text("format"); !format.ok()) return format.status();
    const Result<std::string_view> hash = keys.text("graph_hash");
    if (!hash.ok()) return hash.status();
    const std::string own = fmt::format("{:016x}", graph_hash(graph_));
    if (*hash != own) {
      return invalid_argument(
          "it was made for another graph: its graph_hash is {}, that of {} is {}",
          quoted_excerpt(*hash), quoted_excerpt(graph_.name), quoted_excerpt(own));
    }
    const Result<std::string_view> mesh_text = keys.text("mesh");
    if (!mesh_text.ok()) return mesh_text.status();
    Result<Mesh> mesh = Mesh::parse(*mesh_text);
    if (!mesh.ok()) return annotate(mesh.status(), "mesh");
    read_.solution.mesh = *std::move(mesh);
    const Result<std::string_view> cluster = keys.text("cluster");
    if (!cluster.ok()) return cluster.status();
    read_.prices.cluster = *cluster;
    const Result<std::string_view> cost_model = keys.text("cost_model");
    if (!cost_model.ok()) return cost_model.status();
    read_.prices.cost_model = *cost_model;
    return absl::OkStatus();
  }

  const Mesh& mesh() const { return read_.solution.mesh; }

  Result<Layout> read_layout(Element element, const TensorMeta& meta) const {
    std::string_view text;
    if (element.get(text) != simdjson::SUCCESS) return invalid_argument("expected a layout");
    return parse_layout(text, mesh(), static_cast<int>(meta.shape.size()));
  }

  Result<ValueId> find_value(std::string_view name) const {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    return invalid_argument("the graph has no value {}", quoted_excerpt(name));
  }

  Status read_given(const JsonKeys& keys) {
    const Result<simdjson::dom::object> object = keys.object("given");
    if (!object.ok()) return object.status();
    std::vector<Layout>& given = read_.solution.given;
    given.resize(graph_.values.size());
    for (const auto field : *object) {
      const Result<ValueId> id = find_value(field.key);
      if (!id.ok()) return annotate(id.status(), "given");
      if (!graph_.values[*id].is_given())
        return invalid_argument("given: a node makes {}", quoted_excerpt(field.key));
      Result<Layout> layout = read_layout(field.value, graph_.values[*id].meta);
      if (!layout.ok())
        return annotate(layout.status(), fmt::format("given {}", quoted_excerpt(field.key)));
      given[*id] = *std::move(layout);
    }
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      if (graph_.values[id].is_given() && given[id].placements.empty())
        return invalid_argument("given: {} has no layout", quoted_excerpt(graph_.values[id].name));
    }
    return absl::OkStatus();
  }

  Status read_nodes(const JsonKeys& keys) {
    const Result<simdjson::dom::object> object = keys.object("nodes");
    if (!object.ok()) return object.status();
    read_.solution.nodes.resize(graph_.nodes.size());
    for (const auto field : *object) {
      const auto node = nodes_.find(field.key);
      if (node == nodes_.end())
        return invalid_argument("the graph has no node {}", quoted_excerpt(field.key));
      const Status status = read_node(field.value, node->second);
      if (!status.ok()) return annotate(status, node_text(graph_.nodes[node->second]));
    }
    for (int node = 0; node < graph_.node_count(); ++node) {
      if (read_.solution.nodes[node].rules.empty())
        return invalid_argument("{} has no strategy", node_text(graph_.nodes[node]));
    }
    return absl::OkStatus();
  }

  Status read_node(Element element, int node) {
    const Result<JsonKeys> keys = JsonKeys::create(element, kNodeKeys);
    if (!keys.ok()) return keys.status();
    const Result<simdjson::dom::array> list = keys->list("rules");
    if (!list.ok()) return list.status();
    std::vector<Rule> rules;
    for (const Element item : *list) {
      std::string_view text;
      if (item.get(text) != simdjson::SUCCESS) return invalid_argument("\"rules\" must list rules");
      Result<Rule> rule = parse_conditional_rule(text);
      if (!rule.ok()) return rule.status();
      rules.push_back(*std::move(rule));
    }
    const Result<Dims> order = read_order(*keys);
    if (!order.ok()) return order.status();
    const ResolvedNode& resolved = resolved_.nodes[node];
    const ForeignCall running(*resolved.op, "a placement");
    Result<NodeStrategy> strategy =
        make_node_strategy(resolved, *resolved_.registry, mesh(), rules, *order);
    if (!strategy.ok()) return strategy.status();
    std::vector<OptionalMeta> outputs;
    for (const OptionalOutput& output : resolved.outputs)
      outputs.push_back(output ? OptionalMeta(output->meta) : std::nullopt);
    Status status = check_layouts(*keys, "inputs", resolved.call.inputs, strategy->inputs);
    status.Update(check_layouts(*keys, "outputs", outputs, strategy->outputs));
    if (!status.ok()) return status;
    read_.solution.nodes[node] = *std::move(strategy);
    return absl::OkStatus();
  }

  Result<Dims> read_order(const JsonKeys& keys) const {
    const Dims plain = Layout::replicated(mesh().ndim()).cutting_order();
    if (!keys.has("order")) return plain;
    const Result<simdjson::dom::array> list = keys.list("order");
    if (!list.ok()) return list.status();
    Dims order;
    for (const Element item : *list) {
      std::string_view name;
      const std::optional<int> found =
          item.get(name) == simdjson::SUCCESS ? mesh().find(name) : std::nullopt;
      if (found) order.push_back(*found);
    }
    if (std::is_permutation(order.begin(), order.end(), plain.begin(), plain.end())) return order;
    return invalid_argument("\"order\" must name every mesh dim of {} once", mesh().format());
  }

  // The layouts that stand in the file, against those that the rules give.
  Status check_layouts(const JsonKeys& keys, std::string_view key,
                       std::span<const OptionalMeta> metas,
                       std::span<const Layout> expected) const {
    const Result<simdjson::dom::array> list = keys.list(key);
    if (!list.ok()) return list.status();
    if (list->size() != metas.size())
      return invalid_argument("\"{}\" has {} layouts, expected {}", key, list->size(),
                              metas.size());
    size_t slot = 0;
    for (const Element item : *list) {
      const OptionalMeta& meta = metas[slot];
      const Layout& own = expected[slot++];
      if (!meta && item.is_null()) continue;
      const std::string where = fmt::format("{}[{}]", key, slot - 1);
      if (!meta) return invalid_argument("{}: expected null, there is no tensor", where);
      const Result<Layout> layout = read_layout(item, *meta);
      if (!layout.ok()) return annotate(layout.status(), where);
      if (without_unit_dims(*layout, mesh(), meta->shape) ==
          without_unit_dims(own, mesh(), meta->shape)) {
        continue;
      }
      return invalid_argument("{} is {}, but its rules give {}", where,
                              format_layout(*layout, mesh()), format_layout(own, mesh()));
    }
    return absl::OkStatus();
  }

  Status read_moves(const JsonKeys& keys) {
    const Result<simdjson::dom::array> list = keys.list("moves");
    if (!list.ok()) return list.status();
    for (const Element element : *list) {
      Result<ValueMove> move = read_move(element);
      if (!move.ok()) {
        return annotate(move.status(), fmt::format("moves[{}]", read_.solution.moves.size()));
      }
      read_.solution.moves.push_back(*std::move(move));
    }
    return absl::OkStatus();
  }

  Result<ValueMove> read_move(Element element) const {
    const Result<JsonKeys> keys = JsonKeys::create(element, kMoveKeys);
    if (!keys.ok()) return keys.status();
    ValueMove move;
    if (Status status = read_moved_values(*keys, move); !status.ok()) return status;
    const TensorMeta& meta = graph_.values[move.values[0]].meta;
    const int ndim = static_cast<int>(meta.shape.size());
    for (const auto& [key, target] : {std::pair{"from", &move.from}, {"to", &move.to}}) {
      const Result<std::string_view> text = keys->text(key);
      if (!text.ok()) return text.status();
      Result<Layout> layout = parse_layout(*text, mesh(), ndim);
      if (!layout.ok()) return annotate(layout.status(), key);
      *target = *std::move(layout);
    }
    if (Status status = read_consumers(*keys, move); !status.ok()) return status;
    Result<std::shared_ptr<const Plan>> plan =
        read_move_plan(*keys, move.from, move.to, mesh(), ndim);
    if (!plan.ok()) return plan.status();
    move.plan = *std::move(plan);
    return move;
  }

  Status read_moved_values(const JsonKeys& keys, ValueMove& move) const {
    const Result<std::string_view> name = keys.text("value");
    if (!name.ok()) return name.status();
    const Result<ValueId> first = find_value(*name);
    if (!first.ok()) return first.status();
    move.values = {*first};
    if (!keys.has("values")) return absl::OkStatus();
    const Result<simdjson::dom::array> list = keys.list("values");
    if (!list.ok()) return list.status();
    move.values.clear();
    for (const Element item : *list) {
      std::string_view text;
      if (item.get(text) != simdjson::SUCCESS)
        return invalid_argument("\"values\" must list names of values");
      const Result<ValueId> id = find_value(text);
      if (!id.ok()) return id.status();
      move.values.push_back(*id);
    }
    if (!move.values.empty() && move.values[0] == *first) return absl::OkStatus();
    return invalid_argument("\"values\" must begin with \"value\"");
  }

  Status read_consumers(const JsonKeys& keys, ValueMove& move) const {
    const Result<simdjson::dom::array> list = keys.list("consumers");
    if (!list.ok()) return list.status();
    for (const Element item : *list) {
      std::string_view name;
      if (item.get(name) != simdjson::SUCCESS)
        return invalid_argument("\"consumers\" must list names of nodes");
      const auto node = nodes_.find(name);
      if (node == nodes_.end())
        return invalid_argument("the graph has no node {}", quoted_excerpt(name));
      if (!move.consumers.empty() && move.consumers.back() >= node->second)
        return invalid_argument("\"consumers\" must stand in the order in which nodes run");
      move.consumers.push_back(node->second);
    }
    const Result<bool> is_output = keys.flag("output");
    if (!is_output.ok()) return is_output.status();
    move.is_output = *is_output;
    return absl::OkStatus();
  }

  const ResolvedGraph& resolved_;
  const Graph& graph_;
  absl::flat_hash_map<std::string_view, ValueId> values_;
  absl::flat_hash_map<std::string_view, int> nodes_;
  ReadSolution read_;
};

Result<ReadSolution> read_from(const Result<JsonFile>& file, const std::string& name,
                               const ResolvedGraph& resolved) {
  if (!file.ok()) return file.status();
  Result<ReadSolution> read = SolutionReader(resolved).read(file->root);
  if (!read.ok()) return annotate(read.status(), fmt::format("\"{}\"", name));
  return read;
}

}  // namespace

Result<ReadSolution> read_solution(const std::string& path, const ResolvedGraph& resolved) {
  return read_from(read_json_file(path, kFormat), path, resolved);
}

Result<ReadSolution> parse_solution(const std::string& text, const std::string& name,
                                    const ResolvedGraph& resolved) {
  return read_from(parse_json(text, name, kFormat), name, resolved);
}

}  // namespace onedim
