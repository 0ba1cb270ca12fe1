#include "core/graph/graph_read.hpp"

#include <absl/container/flat_hash_map.h>

#include <array>

#include "core/base/text.hpp"
#include "core/graph/graph_check.hpp"
#include "core/graph/json_file.hpp"
#include "core/graph/json_keys.hpp"
#include "core/graph/value_json.hpp"

namespace onedim {
namespace {

using Element = simdjson::dom::element;

constexpr std::string_view kFormat = "onedim.graph/1";
constexpr std::array<std::string_view, 7> kGraphKeys = {
    "format", "name", "values", "nodes", "outputs", "gradients", "n_forward_outputs"};
constexpr std::array<std::string_view, 5> kValueKeys = {"shape", "strides", "dtype", "kind",
                                                        "path"};
constexpr std::array<std::string_view, 10> kNodeKeys = {
    "name", "op",    "inputs", "attributes", "outputs",
    "role", "phase", "module", "layer",      "recompute"};

Result<Dims> read_dims(const JsonKeys& keys, std::string_view key) {
  const Result<simdjson::dom::array> list = keys.list(key);
  if (!list.ok()) return list.status();
  Dims dims;
  for (const Element element : *list) {
    int64_t number = 0;
    if (element.get(number) != simdjson::SUCCESS)
      return invalid_argument("\"{}\" must list whole numbers", key);
    dims.push_back(number);
  }
  return dims;
}

// A word of a key, read by `parse`; `absent` where the key is not there.
template <typename T>
Result<T> read_word(const JsonKeys& keys, std::string_view key, T absent,
                    Result<T> (*parse)(std::string_view)) {
  if (!keys.has(key)) return absent;
  const Result<std::string_view> text = keys.text(key);
  return text.ok() ? parse(*text) : Result<T>(text.status());
}

Result<std::string> read_text(const JsonKeys& keys, std::string_view key) {
  if (!keys.has(key)) return std::string();
  const Result<std::string_view> text = keys.text(key);
  return text.ok() ? Result<std::string>(std::string(*text)) : text.status();
}

class Reader {
 public:
  Result<Graph> read(Element root) {
    const Result<JsonKeys> keys = JsonKeys::create(root, kGraphKeys);
    if (!keys.ok()) return keys.status();
    if (Result<std::string_view> format = keys->text("format"); !format.ok())
      return format.status();
    Result<std::string> name = read_text(*keys, "name");
    if (!name.ok()) return name.status();
    graph_.name = *std::move(name);
    if (Status status = read_values(*keys); !status.ok()) return status;
    if (Status status = read_nodes(*keys); !status.ok()) return status;
    if (Status status = read_ends(*keys); !status.ok()) return status;
    if (Status status = check_graph(graph_); !status.ok()) return status;
    return std::move(graph_);
  }

 private:
  Status read_values(const JsonKeys& keys) {
    const Result<simdjson::dom::object> object = keys.object("values");
    if (!object.ok()) return object.status();
    for (const auto field : *object) {
      Result<GraphValue> value = read_value(field.value);
      if (!value.ok()) return annotate(value.status(), "value " + quoted_excerpt(field.key));
      value->name = field.key;
      ids_.emplace(field.key, graph_.value_count());
      graph_.values.push_back(*std::move(value));
    }
    return absl::OkStatus();
  }

  static Result<GraphValue> read_value(Element element) {
    const Result<JsonKeys> keys = JsonKeys::create(element, kValueKeys);
    if (!keys.ok()) return keys.status();
    Result<Dims> shape = read_dims(*keys, "shape");
    if (!shape.ok()) return shape.status();
    Result<Dims> strides = read_dims(*keys, "strides");
    if (!strides.ok()) return strides.status();
    const Result<std::string_view> dtype_name = keys->text("dtype");
    if (!dtype_name.ok()) return dtype_name.status();
    const Result<DType> dtype = parse_dtype(*dtype_name);
    if (!dtype.ok()) return dtype.status();
    const Result<std::string_view> kind_name = keys->text("kind");
    if (!kind_name.ok()) return kind_name.status();
    const Result<ValueKind> kind = parse_value_kind(*kind_name);
    if (!kind.ok()) return kind.status();
    Result<std::string> path = read_text(*keys, "path");
    if (!path.ok()) return path.status();
    return GraphValue{
        {}, {*dtype, *std::move(shape), *std::move(strides)}, *kind, *std::move(path)};
  }

  Status read_nodes(const JsonKeys& keys) {
    const Result<simdjson::dom::array> list = keys.list("nodes");
    if (!list.ok()) return list.status();
    for (const Element element : *list) {
      GraphNode node;
      const Status status = read_node(element, node);
      if (!status.ok()) {
        return annotate(status, node.name.empty() ? fmt::format("nodes[{}]", graph_.node_count())
                                                  : node_text(node));
      }
      graph_.nodes.push_back(std::move(node));
    }
    return absl::OkStatus();
  }

  Status read_node(Element element, GraphNode& node) const {
    const Result<JsonKeys> keys = JsonKeys::create(element, kNodeKeys);
    if (!keys.ok()) return keys.status();
    const Result<std::string_view> name = keys->text("name");
    if (!name.ok()) return name.status();
    node.name = *name;
    const Result<std::string_view> op = keys->text("op");
    if (!op.ok()) return op.status();
    node.op = *op;
    if (Status status = read_inputs(*keys, node); !status.ok()) return status;
    if (Status status = read_attributes(*keys, node); !status.ok()) return status;
    const Result<simdjson::dom::array> outputs = keys->list("outputs");
    if (!outputs.ok()) return outputs.status();
    Result<std::vector<ValueId>> ids = read_list(*outputs, "outputs");
    if (!ids.ok()) return ids.status();
    node.outputs = *std::move(ids);
    return read_tags(*keys, node);
  }

  Status read_inputs(const JsonKeys& keys, GraphNode& node) const {
    const Result<simdjson::dom::object> object = keys.object("inputs");
    if (!object.ok()) return object.status();
    for (const auto field : *object) {
      simdjson::dom::array list;
      NodeInput input{std::string(field.key), field.value.get(list) == simdjson::SUCCESS, {}};
      const std::string where = fmt::format("input {}", quoted_excerpt(field.key));
      if (input.is_list) {
        Result<std::vector<ValueId>> ids = read_list(list, where);
        if (!ids.ok()) return ids.status();
        input.values = *std::move(ids);
      } else {
        const Result<ValueId> id = read_id(field.value);
        if (!id.ok()) return annotate(id.status(), where);
        input.values = {*id};
      }
      node.inputs.push_back(std::move(input));
    }
    return absl::OkStatus();
  }

  static Status read_attributes(const JsonKeys& keys, GraphNode& node) {
    const Result<simdjson::dom::object> object = keys.object("attributes");
    if (!object.ok()) return object.status();
    for (const auto field : *object) {
      Result<Value> value = value_from_json(field.value);
      if (!value.ok()) return annotate(value.status(), "attribute " + quoted_excerpt(field.key));
      node.attributes.emplace_back(field.key, *std::move(value));
    }
    return absl::OkStatus();
  }

  static Status read_tags(const JsonKeys& keys, GraphNode& node) {
    Result<std::string> role = read_text(keys, "role");
    if (!role.ok()) return role.status();
    node.role = *std::move(role);
    const Result<Phase> phase = read_word<Phase>(keys, "phase", Phase::kForward, parse_phase);
    if (!phase.ok()) return phase.status();
    node.phase = *phase;
    if (keys.has("module")) {
      const Result<std::string_view> module = keys.text("module");
      if (!module.ok()) return module.status();
      node.module = *module;
    }
    const Result<int> layer = keys.has("layer") ? keys.whole("layer", 0) : Result<int>(-1);
    if (!layer.ok()) return layer.status();
    node.layer = *layer;
    const Result<Recompute> recompute =
        read_word<Recompute>(keys, "recompute", Recompute::kNone, parse_recompute);
    if (!recompute.ok()) return recompute.status();
    node.recompute = *recompute;
    return absl::OkStatus();
  }

  // What stands behind the nodes: outputs, gradients, how many outputs are the forward's.
  Status read_ends(const JsonKeys& keys) {
    const Result<simdjson::dom::array> outputs = keys.list("outputs");
    if (!outputs.ok()) return outputs.status();
    Result<std::vector<ValueId>> ids = read_list(*outputs, "outputs");
    if (!ids.ok()) return ids.status();
    graph_.outputs = *std::move(ids);
    if (keys.has("n_forward_outputs")) {
      const Result<int> count = keys.whole("n_forward_outputs", 0);
      if (!count.ok()) return count.status();
      graph_.forward_outputs = *count;
    }
    if (!keys.has("gradients")) return absl::OkStatus();
    const Result<simdjson::dom::object> object = keys.object("gradients");
    if (!object.ok()) return object.status();
    for (const auto field : *object) {
      const Result<ValueId> param = find_id(field.key);
      if (!param.ok()) return annotate(param.status(), "gradients");
      const Result<ValueId> gradient = read_id(field.value);
      if (!gradient.ok())
        return annotate(gradient.status(), "gradient of " + quoted_excerpt(field.key));
      graph_.gradients.push_back({*param, *gradient});
    }
    return absl::OkStatus();
  }

  Result<std::vector<ValueId>> read_list(simdjson::dom::array list, std::string_view where) const {
    std::vector<ValueId> ids;
    for (const Element element : list) {
      const Result<ValueId> id = read_id(element);
      if (!id.ok()) return annotate(id.status(), fmt::format("{}[{}]", where, ids.size()));
      ids.push_back(*id);
    }
    return ids;
  }

  Result<ValueId> read_id(Element element) const {
    if (element.is_null()) return kNoValue;
    std::string_view name;
    if (element.get(name) != simdjson::SUCCESS)
      return invalid_argument("expected the name of a value, or null");
    return find_id(name);
  }

  Result<ValueId> find_id(std::string_view name) const {
    const auto found = ids_.find(name);
    if (found != ids_.end()) return found->second;
    std::vector<std::string> names;
    for (const GraphValue& value : graph_.values) names.push_back(value.name);
    return invalid_argument("no value {}{}", quoted_excerpt(name), did_you_mean(name, names));
  }

  Graph graph_;
  absl::flat_hash_map<std::string_view, ValueId> ids_;  // keys lie in the parsed document
};

}  // namespace

Result<Graph> parse_graph(const std::string& text, const std::string& name) {
  const Result<JsonFile> file = parse_json(text, name, kFormat);
  if (!file.ok()) return file.status();
  Result<Graph> graph = Reader().read(file->root);
  if (!graph.ok()) return annotate(graph.status(), fmt::format("\"{}\"", name));
  return graph;
}

Result<Graph> read_graph(const std::string& path) {
  const Result<JsonFile> file = read_json_file(path, kFormat);
  if (!file.ok()) return file.status();
  Result<Graph> graph = Reader().read(file->root);
  if (!graph.ok()) return annotate(graph.status(), fmt::format("\"{}\"", path));
  return graph;
}

}  // namespace onedim
