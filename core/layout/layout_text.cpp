#include <algorithm>

#include "core/base/scanner.hpp"
#include "core/layout/layout.hpp"

namespace onedim {
namespace {

// One placement as written, with the order behind it.
struct Entry {
  size_t position = 0;  // in the text
  Placement placement;
  Dims order;  // mesh dims in cutting order; empty if none is written
};

Result<int64_t> parse_mesh_dim(Scanner& scanner, const Mesh& mesh) {
  scanner.peek();
  const size_t begin = scanner.position();
  if (const std::string_view name = scanner.word(); !name.empty()) {
    if (const std::optional<int> dim = mesh.find(name)) return *dim;
    return scanner.error_at(begin, fmt::format("the mesh {} has no dim \"{}\"{}", mesh.format(),
                                               name, did_you_mean(name, mesh.names())));
  }
  const Result<int64_t> dim = scanner.integer();
  if (!dim.ok()) return scanner.error_at(begin, "expected a mesh dim's name or index");
  if (*dim >= 0 && *dim < mesh.ndim()) return *dim;
  return scanner.error_at(begin, fmt::format("the mesh {} has no dim {}", mesh.format(), *dim));
}

// `[b,a]`, the bracket already read.
Result<Dims> parse_order(Scanner& scanner, const Mesh& mesh) {
  Dims order;
  do {
    scanner.peek();
    const size_t begin = scanner.position();
    const Result<int64_t> dim = parse_mesh_dim(scanner, mesh);
    if (!dim.ok()) return dim.status();
    if (std::find(order.begin(), order.end(), *dim) != order.end()) {
      return scanner.error_at(
          begin, fmt::format("mesh dim {} occurs twice in a shard order", mesh.name(*dim)));
    }
    order.push_back(*dim);
  } while (scanner.accept(","));
  if (const Status status = scanner.expect("]"); !status.ok()) return status;
  return order;
}

// What a single placement of a layout may be.
Status check_entry(const Scanner& scanner, const Entry& entry, int ndim) {
  const Placement& placement = entry.placement;
  if (placement.is_none())
    return scanner.error_at(entry.position, "a present tensor has no placement \"-\"");
  if (placement.kind == Placement::Kind::kAnyShard) {
    return scanner.error_at(entry.position, "S* stands only in rules, expected S(d) or SS(d,sf)");
  }
  if (placement.is_shard() && placement.dim >= ndim) {
    return scanner.error_at(
        entry.position,
        fmt::format("{} shards dim {} of a tensor with {} dims, expected {}",
                    format_placement(placement), placement.dim, ndim,
                    ndim == 0 ? std::string("R or P") : fmt::format("a dim below {}", ndim)));
  }
  if (!placement.is_shard() && !entry.order.empty()) {
    return scanner.error_at(entry.position, "only a shard has an order");
  }
  return {};
}

Result<std::vector<Entry>> parse_entries(Scanner& scanner, const Mesh& mesh, int ndim) {
  std::vector<Entry> entries;
  do {
    scanner.peek();
    Entry entry;
    entry.position = scanner.position();
    Result<Placement> placement = scan_placement(scanner);
    if (!placement.ok()) return placement.status();
    entry.placement = *std::move(placement);
    if (scanner.accept("[")) {
      Result<Dims> order = parse_order(scanner, mesh);
      if (!order.ok()) return order.status();
      entry.order = *std::move(order);
    }
    if (const Status status = check_entry(scanner, entry, ndim); !status.ok()) return status;
    entries.push_back(std::move(entry));
  } while (scanner.accept(","));
  if (!scanner.at_end()) return scanner.error("expected \",\" or the end of the layout");
  return entries;
}

// The short form: a placement with an order stands for all mesh dims that the order names, the
// others for the mesh dims that are left. Nothing if that does not come out even.
std::vector<Placement> expand_short_form(std::span<const Entry> entries, int mesh_ndim) {
  std::vector<const Placement*> placed(mesh_ndim, nullptr);
  for (const Entry& entry : entries) {
    for (int64_t mesh_dim : entry.order) {
      if (placed[mesh_dim] != nullptr) return {};
      placed[mesh_dim] = &entry.placement;
    }
  }
  auto free = placed.begin();
  for (const Entry& entry : entries) {
    if (!entry.order.empty()) continue;
    free = std::find(free, placed.end(), nullptr);
    if (free == placed.end()) return {};
    *free = &entry.placement;
  }
  std::vector<Placement> placements;
  for (const Placement* placement : placed) {
    if (placement == nullptr) return {};
    placements.push_back(*placement);
  }
  return placements;
}

Status check_partials(const Scanner& scanner, std::span<const Entry> entries) {
  const Entry* first = nullptr;
  for (const Entry& entry : entries) {
    if (!entry.placement.is_partial()) continue;
    if (first == nullptr) first = &entry;
    if (can_stand_together(first->placement, entry.placement)) continue;
    return scanner.error_at(
        entry.position,
        fmt::format("{} stands beside {}, only sum and avg may mix",
                    format_placement(entry.placement), format_placement(first->placement)));
  }
  return {};
}

std::string names_of(const Dims& mesh_dims, const Mesh& mesh) {
  std::vector<std::string> names;
  for (const int64_t mesh_dim : mesh_dims) names.push_back(mesh.name(static_cast<int>(mesh_dim)));
  return fmt::format("{}", fmt::join(names, ","));
}

Status apply_orders(const Scanner& scanner, std::span<const Entry> entries, const Mesh& mesh,
                    Layout& layout) {
  for (const Entry& entry : entries) {
    if (entry.order.empty()) continue;
    const int dim = entry.placement.dim;
    Dims named = entry.order, sharding = layout.shard_order(dim);
    std::sort(named.begin(), named.end());
    std::sort(sharding.begin(), sharding.end());
    if (named != sharding) {
      return scanner.error_at(
          entry.position,
          fmt::format(
              "the order of {} must name the mesh dims that shard dim {} ({}), and no others",
              format_placement(entry.placement), dim, names_of(sharding, mesh)));
    }
    layout.set_shard_order(dim, entry.order);
  }
  for (const Entry& entry : entries) {
    if (entry.order.empty() || layout.shard_order(entry.placement.dim) == entry.order) continue;
    return scanner.error_at(entry.position, fmt::format("two different orders are given for dim {}",
                                                        entry.placement.dim));
  }
  return {};
}

}  // namespace

std::string format_layout(const Layout& layout, const Mesh& mesh) {
  const Layout shown = drop_unit_mesh_dims(layout, mesh);
  std::vector<std::string> texts;
  std::vector<int> ordered_dims;
  for (const Placement& placement : shown.placements) {
    std::string text = format_placement(placement);
    const bool is_new =
        std::find(ordered_dims.begin(), ordered_dims.end(), placement.dim) == ordered_dims.end();
    if (placement.is_shard() && is_new) {
      const Dims order = shown.shard_order(placement.dim);
      if (!std::is_sorted(order.begin(), order.end()))
        text += fmt::format("[{}]", names_of(order, mesh));
      ordered_dims.push_back(placement.dim);
    }
    texts.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

Result<Layout> parse_layout(std::string_view text, const Mesh& mesh, int ndim) {
  Scanner scanner(text);
  const Result<std::vector<Entry>> entries = parse_entries(scanner, mesh, ndim);
  if (!entries.ok()) return entries.status();
  Layout layout;
  if (entries->size() == static_cast<size_t>(mesh.ndim())) {
    for (const Entry& entry : *entries) layout.placements.push_back(entry.placement);
  } else {
    layout.placements = expand_short_form(*entries, mesh.ndim());
  }
  if (layout.placements.empty()) {
    return invalid_argument(
        "layout {}: expected one placement for each dim of the mesh {} ({}), found {}",
        quoted_excerpt(text), mesh.format(), mesh.ndim(), entries->size());
  }
  if (const Status status = check_partials(scanner, *entries); !status.ok()) return status;
  if (const Status status = apply_orders(scanner, *entries, mesh, layout); !status.ok())
    return status;
  return layout;
}

}  // namespace onedim
