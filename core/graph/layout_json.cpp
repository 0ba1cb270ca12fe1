#include "core/graph/layout_json.hpp"

#include <nlohmann/json.hpp>

namespace onedim {

using Json = nlohmann::ordered_json;

Json layout_json(const Layout& layout, const Mesh& mesh) {
  return layout.placements.empty() ? Json(nullptr) : Json(format_layout(layout, mesh));
}

Json layouts_json(std::span<const Layout> layouts, const Mesh& mesh) {
  Json list = Json::array();
  for (const Layout& layout : layouts) list.push_back(layout_json(layout, mesh));
  return list;
}

}  // namespace onedim
