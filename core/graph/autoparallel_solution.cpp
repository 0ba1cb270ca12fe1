#include "core/graph/autoparallel_solution.hpp"

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cmath>

#include "core/base/scanner.hpp"
#include "core/graph/json_file.hpp"
#include "core/graph/json_keys.hpp"
#include "core/layout/layout_check.hpp"

namespace onedim {
namespace {

using Element = simdjson::dom::element;

constexpr std::string_view kFormat = "autoparallel";
constexpr std::string_view kOutputOfSeveral = "getitem";
constexpr std::array<std::string_view, 6> kKeys = {"format",  "model", "note",
                                                   "summary", "mesh",  "nodes"};
constexpr std::array<std::string_view, 2> kMeshKeys = {"shape", "dim_names"};
constexpr std::array<std::string_view, 4> kSummaryKeys = {"total", "comm", "compute", "transition"};
constexpr std::array<std::string_view, 3> kNodeKeys = {"placement", "compute_us", "inputs"};
constexpr std::array<std::string_view, 4> kEdgeKeys = {"from", "src", "dst", "comm_us"};

// A price that may be left out.
Status read_price(const JsonKeys& keys, std::string_view key, std::optional<double>& us) {
  if (!keys.has(key)) return absl::OkStatus();
  const Result<double> number = keys.real(key);
  if (!number.ok()) return number.status();
  if (!(*number >= 0) || !std::isfinite(*number))
    return invalid_argument("\"{}\" must be a number of us from 0 on, not {}", key, *number);
  us = *number;
  return absl::OkStatus();
}

// `S(0)P(sum)` of a tensor.
Result<Layout> parse_joined_layout(std::string_view text, const TensorMeta& meta,
                                   const Mesh& mesh) {
  Scanner scanner(text);
  Layout layout;
  while (!scanner.at_end()) {
    if (scanner.accept("R")) {  // `RR` is no word
      layout.placements.push_back(Placement::replicate());
      continue;
    }
    Result<Placement> placement = scan_placement(scanner);
    if (!placement.ok()) return placement.status();
    layout.placements.push_back(*std::move(placement));
  }
  Status status = check_placements(meta, layout, mesh);
  if (!status.ok()) return annotate(status, quoted_excerpt(text));
  return layout;
}

class AutoParallelReader {
 public:
  explicit AutoParallelReader(const ResolvedGraph& resolved)
      : resolved_(resolved), graph_(*resolved.graph), makers_(graph_.values.size()) {
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      if (graph_.values[id].is_given()) given_[graph_.values[id].name] = id;
    }
    for (int node = 0; node < graph_.node_count(); ++node) {
      nodes_[graph_.nodes[node].name] = node;
      const std::vector<ValueId>& outputs = graph_.nodes[node].outputs;
      for (size_t slot = 0; slot < outputs.size(); ++slot) {
        if (outputs[slot] != kNoValue) makers_[outputs[slot]] = {node, slot};
      }
    }
  }

  Result<AutoParallelSolution> read(Element root) {
    const Result<JsonKeys> keys = JsonKeys::create(root, kKeys);
    if (!keys.ok()) return keys.status();
    if (Status status = read_mesh(root, *keys); !status.ok()) return annotate(status, "mesh");
    if (Status status = read_summary(root, *keys); !status.ok()) return annotate(status, "summary");
    if (Status status = read_nodes(*keys); !status.ok()) return status;
    if (Status status = check_sources(); !status.ok()) return status;
    return std::move(read_);
  }

 private:
  // Where a value comes from; of a given one no node.
  struct Maker {
    int node = -1;
    size_t slot = 0;
  };

  const Mesh& mesh() const { return read_.mesh; }

  Status read_mesh(Element root, const JsonKeys& keys) {
    if (!keys.has("mesh")) return invalid_argument("it is missing");
    const Result<JsonKeys> mesh_keys = JsonKeys::create(root["mesh"].value(), kMeshKeys);
    if (!mesh_keys.ok()) return mesh_keys.status();
    const Result<simdjson::dom::array> shape = mesh_keys->list("shape");
    if (!shape.ok()) return shape.status();
    const Result<simdjson::dom::array> names = mesh_keys->list("dim_names");
    if (!names.ok()) return names.status();
    Dims sizes;
    for (const Element item : *shape) {
      int64_t size = 0;
      if (item.get(size) != simdjson::SUCCESS)
        return invalid_argument("\"shape\" must list whole numbers");
      sizes.push_back(size);
    }
    std::vector<std::string> texts;
    for (const Element item : *names) {
      std::string_view name;
      if (item.get(name) != simdjson::SUCCESS)
        return invalid_argument("\"dim_names\" must list names");
      texts.emplace_back(name);
    }
    if (texts.size() != sizes.size())
      return invalid_argument("{} sizes have {} names", sizes.size(), texts.size());
    Result<Mesh> mesh = Mesh::create(std::move(texts), std::move(sizes));
    if (!mesh.ok()) return mesh.status();
    read_.mesh = *std::move(mesh);
    return absl::OkStatus();
  }

  Status read_summary(Element root, const JsonKeys& keys) {
    if (!keys.has("summary")) return absl::OkStatus();
    const Result<JsonKeys> sums = JsonKeys::create(root["summary"].value(), kSummaryKeys);
    if (!sums.ok()) return sums.status();
    Status status = read_price(*sums, "comm", read_.communication_us);
    status.Update(read_price(*sums, "compute", read_.compute_us));
    return status;
  }

  Status read_nodes(const JsonKeys& keys) {
    const Result<simdjson::dom::object> object = keys.object("nodes");
    if (!object.ok()) return object.status();
    read_.given.resize(graph_.values.size());
    read_.nodes.resize(graph_.nodes.size());
    sources_.resize(graph_.nodes.size());
    for (const auto field : *object) {
      if (Status status = read_entry(field.key, field.value); !status.ok()) return status;
    }
    for (int node = 0; node < graph_.node_count(); ++node) {
      if (!is_read(node))
        return invalid_argument("{} has no placement", node_text(graph_.nodes[node]));
    }
    for (const auto& [name, id] : given_) {
      if (read_.given[id].placements.empty())
        return invalid_argument("{} has no placement", quoted_excerpt(name));
    }
    return absl::OkStatus();
  }

  // An op without outputs has none to tell by.
  bool is_read(int node) const { return sources_[node].has_value(); }

  Status read_entry(std::string_view name, Element element) {
    const auto node = nodes_.find(name);
    const auto value = given_.find(name);
    if (node == nodes_.end() && value == given_.end()) return unknown_name(name);
    const bool is_twice = node != nodes_.end() ? is_read(node->second)
                                               : !read_.given[value->second].placements.empty();
    if (is_twice) return invalid_argument("{} stands there twice", quoted_excerpt(name));
    const Result<JsonKeys> keys = JsonKeys::create(element, kNodeKeys);
    if (!keys.ok()) return annotate(keys.status(), quoted_excerpt(name));
    if (node == nodes_.end())
      return annotate(read_given(*keys, value->second), quoted_excerpt(name));
    return annotate(read_node(*keys, node->second), node_text(graph_.nodes[node->second]));
  }

  Status unknown_name(std::string_view name) const {
    std::vector<std::string> names;
    for (const GraphNode& node : graph_.nodes) names.push_back(node.name);
    return invalid_argument("the graph has no node and is given no value {}{}",
                            quoted_excerpt(name), did_you_mean(name, names));
  }

  Status read_given(const JsonKeys& keys, ValueId id) {
    const Result<std::string_view> text = keys.text("placement");
    if (!text.ok()) return text.status();
    Result<Layout> layout = parse_joined_layout(*text, graph_.values[id].meta, mesh());
    if (!layout.ok()) return annotate(layout.status(), "placement");
    read_.given[id] = *std::move(layout);
    return absl::OkStatus();
  }

  Status read_node(const JsonKeys& keys, int node) {
    AutoParallelNode& read = read_.nodes[node];
    Status status = read_price(keys, "compute_us", read.compute_us);
    if (status.ok()) status = read_outputs(keys, node, read.outputs);
    if (!status.ok()) return status;
    const Result<simdjson::dom::array> list = keys.list("inputs");
    if (!list.ok()) return list.status();
    const std::vector<ValueId>& slots = resolved_.nodes[node].slots;
    read.inputs.resize(slots.size());
    std::vector<std::string_view>& sources = sources_[node].emplace(slots.size());
    size_t slot = 0, count = 0;
    for (const Element item : *list) {
      while (slot < slots.size() && slots[slot] == kNoValue) ++slot;
      if (slot == slots.size()) break;
      status = read_edge(item, slots[slot], read.inputs[slot], sources[slot]);
      if (!status.ok()) return annotate(status, fmt::format("inputs[{}]", count));
      ++slot, ++count;
    }
    const size_t expected = slots.size() - std::count(slots.begin(), slots.end(), kNoValue);
    if (list->size() == expected) return absl::OkStatus();
    return invalid_argument("it has {} inputs there, in the graph {}", list->size(), expected);
  }

  Status read_outputs(const JsonKeys& keys, int node, std::vector<Layout>& outputs) const {
    const Result<std::string_view> text = keys.text("placement");
    if (!text.ok()) return text.status();
    const std::vector<ValueId>& values = graph_.nodes[node].outputs;
    outputs.resize(values.size());
    const bool is_tuple = text->starts_with('(') && text->ends_with(')');
    const std::vector<std::string_view> parts =
        is_tuple ? split_top_level(text->substr(1, text->size() - 2), ',') : std::vector{*text};
    const size_t expected = values.size() - std::count(values.begin(), values.end(), kNoValue);
    if (parts.size() != expected) {
      return invalid_argument("placement: {} has {} layouts, the node {} outputs",
                              quoted_excerpt(*text), parts.size(), expected);
    }
    size_t part = 0;
    for (size_t slot = 0; slot < values.size(); ++slot) {
      if (values[slot] == kNoValue) continue;
      Result<Layout> layout =
          parse_joined_layout(parts[part++], graph_.values[values[slot]].meta, mesh());
      if (!layout.ok()) return annotate(layout.status(), "placement");
      outputs[slot] = *std::move(layout);
    }
    return absl::OkStatus();
  }

  Status read_edge(Element element, ValueId id, AutoParallelEdge& edge,
                   std::string_view& source) const {
    const Result<JsonKeys> keys = JsonKeys::create(element, kEdgeKeys);
    if (!keys.ok()) return keys.status();
    const Result<std::string_view> from = keys->text("from");
    if (!from.ok()) return from.status();
    source = *from;
    for (const auto& [key, target] : {std::pair{"src", &edge.from}, {"dst", &edge.to}}) {
      const Result<std::string_view> text = keys->text(key);
      if (!text.ok()) return text.status();
      Result<Layout> layout = parse_joined_layout(*text, graph_.values[id].meta, mesh());
      if (!layout.ok()) return annotate(layout.status(), key);
      *target = *std::move(layout);
    }
    return read_price(*keys, "comm_us", edge.us);
  }

  // Every edge begins at the value that stands there in the graph, as that lies.
  Status check_sources() {
    for (int node = 0; node < graph_.node_count(); ++node) {
      const std::vector<ValueId>& slots = resolved_.nodes[node].slots;
      size_t count = 0;
      for (size_t slot = 0; slot < slots.size(); ++slot) {
        if (slots[slot] == kNoValue) continue;
        const Status status =
            check_source((*sources_[node])[slot], slots[slot], read_.nodes[node].inputs[slot]);
        if (!status.ok()) {
          return annotate(status,
                          fmt::format("{}: inputs[{}]", node_text(graph_.nodes[node]), count));
        }
        ++count;
      }
    }
    return absl::OkStatus();
  }

  Status check_source(std::string_view name, ValueId id, const AutoParallelEdge& edge) {
    const Maker maker = makers_[id];
    const std::string& own = graph_.values[id].name;
    if (name != own && !stands_for(name, id)) {
      return invalid_argument("it comes from {}, in the graph from {}", quoted_excerpt(name),
                              quoted_excerpt(own));
    }
    const Layout& lies =
        maker.node < 0 ? read_.given[id] : read_.nodes[maker.node].outputs[maker.slot];
    if (lies == edge.from) return absl::OkStatus();
    return invalid_argument("src is {}, but {} lies as {}", format_layout(edge.from, mesh()),
                            quoted_excerpt(name), format_layout(lies, mesh()));
  }

  // Another name than the value's: its node's, if that makes nothing else, or one that AutoParallel
  // made up for one of several outputs, which then stands for that output everywhere.
  bool stands_for(std::string_view name, ValueId id) {
    const Maker maker = makers_[id];
    if (maker.node < 0) return false;
    const GraphNode& node = graph_.nodes[maker.node];
    if (node.outputs.size() == 1) return name == node.name;
    if (!name.starts_with(kOutputOfSeveral) || nodes_.contains(name) || given_.contains(name))
      return false;
    return aliases_.try_emplace(name, id).first->second == id;
  }

  const ResolvedGraph& resolved_;
  const Graph& graph_;
  absl::flat_hash_map<std::string_view, ValueId> given_;
  absl::flat_hash_map<std::string_view, int> nodes_;
  std::vector<Maker> makers_;
  // Of nodes that were read, what each input says it comes from.
  std::vector<std::optional<std::vector<std::string_view>>> sources_;
  absl::flat_hash_map<std::string_view, ValueId> aliases_;
  AutoParallelSolution read_;
};

Result<AutoParallelSolution> read_from(const Result<JsonFile>& file, const std::string& name,
                                       const ResolvedGraph& resolved) {
  if (!file.ok()) return file.status();
  Result<AutoParallelSolution> read = AutoParallelReader(resolved).read(file->root);
  if (!read.ok()) return annotate(read.status(), fmt::format("\"{}\"", name));
  return read;
}

}  // namespace

std::vector<Layout> AutoParallelNode::input_layouts() const {
  std::vector<Layout> layouts;
  for (const AutoParallelEdge& edge : inputs) layouts.push_back(edge.to);
  return layouts;
}

Result<AutoParallelSolution> read_autoparallel_solution(const std::string& path,
                                                        const ResolvedGraph& resolved) {
  return read_from(read_json_file(path, kFormat), path, resolved);
}

Result<AutoParallelSolution> parse_autoparallel_solution(const std::string& text,
                                                         const std::string& name,
                                                         const ResolvedGraph& resolved) {
  return read_from(parse_json(text, name, kFormat), name, resolved);
}

}  // namespace onedim
