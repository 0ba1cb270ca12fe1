#pragma once
// Graph summary: what a graph holds, in numbers: values and bytes by kind, nodes by phase, layer
// and op; and, where packs were asked, what they say of it.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/graph/graph_infer.hpp"

namespace onedim {

// `inference` is null where no pack was asked.
nlohmann::ordered_json graph_json(const Graph& graph, const GraphInference* inference);
std::string graph_text(const Graph& graph, const GraphInference* inference);

}  // namespace onedim
