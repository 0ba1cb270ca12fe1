#include "tools/layout_picture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/layout/memory_order.hpp"
#include "core/layout/placed_layout.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostMapRows = 24;  // a map that does not fit a screen shows nothing
constexpr size_t kMostMapColumns = 100;

std::string format_coordinate(const Dims& coordinate) {
  return fmt::format("({})", fmt::join(coordinate, ","));
}

// `0:5` for one piece, `0:2+6:8` for several, `none` for an empty shard.
std::string format_indices(const Intervals& intervals) {
  if (intervals.empty()) return "none";
  std::string text;
  for (const Interval& interval : intervals) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : "+", interval.begin, interval.end);
  }
  return text;
}

std::string rank_table(const PlacedTensor& placed) {
  TextRow head = {"rank", fmt::format("({})", fmt::join(placed.mesh.names(), ",")), "shape"};
  // Row-major ones follow from the shape.
  if (placed.outermost != 0) head.push_back("strides");
  for (size_t dim = 0; dim < placed.meta.shape.size(); ++dim)
    head.push_back(fmt::format("dim {}", dim));
  std::vector<TextRow> rows = {head};
  const int64_t count = placed.mesh.rank_count();
  for (int64_t rank = 0; rank < std::min(count, kMostRankRows); ++rank) {
    const Dims coordinate = placed.mesh.coordinate_of(rank);
    const IndexMap map = index_map(placed.meta.shape, placed.layout, placed.mesh, coordinate);
    TextRow row = {std::to_string(rank), format_coordinate(coordinate),
                   format_dims(map.local_shape())};
    if (placed.outermost != 0)
      row.push_back(format_dims(strides_with_outermost(map.local_shape(), placed.outermost)));
    for (const Intervals& intervals : map.dims) row.push_back(format_indices(intervals));
    rows.push_back(std::move(row));
  }
  std::string text = format_table(rows);
  if (count > kMostRankRows)
    text += fmt::format("... and {} more ranks (--json lists all)\n", count - kMostRankRows);
  return text;
}

// Per element of the map, the ranks that hold it.
using OwnerMap = std::vector<std::vector<std::string>>;

void mark_owner(const IndexMap& map, int64_t rank, OwnerMap& owners) {
  const bool is_line = map.dims.size() == 1;
  const Dims shape = map.local_shape();
  for (int64_t i = 0; i < shape[0]; ++i) {
    const int64_t row = is_line ? 0 : map.global_index(0, i);
    for (int64_t j = 0; j < (is_line ? 1 : shape[1]); ++j) {
      const int64_t column = is_line ? map.global_index(0, i) : map.global_index(1, j);
      std::string& cell = owners[row][column];
      cell += (cell.empty() ? "" : ",") + std::to_string(rank);
    }
  }
}

std::string owner_map(const PlacedTensor& placed) {
  const Dims& shape = placed.meta.shape;
  if (shape.empty() || shape.size() > 2 || volume(shape) == 0) return "";
  const int64_t row_count = shape.size() == 1 ? 1 : shape[0];
  if (row_count > kMostMapRows || shape.back() > static_cast<int64_t>(kMostMapColumns)) return "";
  if (placed.mesh.rank_count() > kMostRankRows) return "";
  OwnerMap owners(row_count, TextRow(shape.back()));
  for (int64_t rank = 0; rank < placed.mesh.rank_count(); ++rank) {
    const Dims coordinate = placed.mesh.coordinate_of(rank);
    mark_owner(index_map(shape, placed.layout, placed.mesh, coordinate), rank, owners);
  }
  const std::string text = format_table(owners);
  if (text.find('\n') > kMostMapColumns) return "";
  return "\nranks that hold each element:\n" + text;
}

std::string remarks(const PlacedTensor& placed) {
  std::string text;
  if (!is_even(placed.meta.shape, placed.layout, placed.mesh)) text += ", uneven";
  if (has_empty_shard(placed.meta.shape, placed.layout, placed.mesh))
    text += ", some ranks hold nothing";
  return text;
}

}  // namespace

std::string layout_text(const PlacedTensor& placed) {
  const std::string head =
      fmt::format("{}@{} on {}{}\n", format_meta(placed.meta),
                  format_placed_layout(placed.layout, placed.outermost, placed.mesh),
                  placed.mesh.format(), remarks(placed));
  return head + rank_table(placed) + owner_map(placed);
}

}  // namespace onedim
