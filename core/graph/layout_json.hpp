#pragma once
// Layout JSON: layouts as files and reports write them: their text, or null where there is none, as
// of an absent tensor.

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "core/layout/layout.hpp"

namespace onedim {

nlohmann::ordered_json layout_json(const Layout& layout, const Mesh& mesh);
nlohmann::ordered_json layouts_json(std::span<const Layout> layouts, const Mesh& mesh);

}  // namespace onedim
