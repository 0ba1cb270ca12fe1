#include "core/graph/graph_write.hpp"

#include <nlohmann/json.hpp>

#include "core/graph/value_json.hpp"

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

Json id_json(const Graph& graph, ValueId id) {
  return id == kNoValue ? Json(nullptr) : Json(graph.values[id].name);
}

Json list_json(const Graph& graph, const std::vector<ValueId>& ids) {
  Json list = Json::array();
  for (const ValueId id : ids) list.push_back(id_json(graph, id));
  return list;
}

Json value_json(const GraphValue& value) {
  Json json{{"shape", value.meta.shape},
            {"strides", value.meta.strides},
            {"dtype", name_of(value.meta.dtype)},
            {"kind", name_of(value.kind)}};
  if (!value.path.empty()) json["path"] = value.path;
  return json;
}

Json node_json(const Graph& graph, const GraphNode& node) {
  Json inputs = Json::object();
  for (const NodeInput& input : node.inputs) {
    inputs[input.name] =
        input.is_list ? list_json(graph, input.values) : id_json(graph, input.values[0]);
  }
  Json attributes = Json::object();
  for (const auto& [name, value] : node.attributes) attributes[name] = value_to_json(value);
  Json json{{"name", node.name},
            {"op", node.op},
            {"inputs", std::move(inputs)},
            {"attributes", std::move(attributes)},
            {"outputs", list_json(graph, node.outputs)}};
  if (!node.role.empty()) json["role"] = node.role;
  json["phase"] = name_of(node.phase);
  if (node.module) json["module"] = *node.module;
  if (node.layer >= 0) json["layer"] = node.layer;
  if (node.recompute != Recompute::kNone) json["recompute"] = name_of(node.recompute);
  return json;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// `"key":{` or `"key":[`, the items, the bracket's end; item by item, so that the whole document is
// held once, as text.
template <typename Items, typename ToText>
void append_items(std::string& text, std::string_view opening, char closing, const Items& items,
                  ToText to_text) {
  text += opening;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += ',';
    text += to_text(items[i]);
  }
  text += closing;
}

}  // namespace

std::string format_graph(const Graph& graph) {
  std::string text = "{\"format\":\"onedim.graph/1\",\"name\":" + dump(graph.name);
  append_items(text, ",\"values\":{", '}', graph.values, [](const GraphValue& value) {
    return dump(value.name) + ':' + dump(value_json(value));
  });
  append_items(text, ",\"nodes\":[", ']', graph.nodes,
               [&](const GraphNode& node) { return dump(node_json(graph, node)); });
  text += ",\"outputs\":" + dump(list_json(graph, graph.outputs));
  if (!graph.gradients.empty()) {
    append_items(text, ",\"gradients\":{", '}', graph.gradients, [&](const Gradient& pair) {
      return dump(graph.values[pair.param].name) + ':' + dump(graph.values[pair.gradient].name);
    });
  }
  if (graph.forward_outputs >= 0)
    text += fmt::format(",\"n_forward_outputs\":{}", graph.forward_outputs);
  return text + '}';
}

}  // namespace onedim
