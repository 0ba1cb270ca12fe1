#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/layout/index_map.hpp"
#include "core/layout/layout_check.hpp"
#include "core/layout/memory_order.hpp"
#include "core/layout/placed_layout.hpp"
#include "core/layout/reshape.hpp"
#include "core/tensor/tensor.hpp"
#include "tools/commands/commands.hpp"
#include "tools/layout_picture.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostIntervals = int64_t{1} << 22;

struct LayoutOptions {
  std::string tensor;
  std::string mesh;
  std::string reshape;  // a shape such as [24]; empty: as it is
};

Result<PlacedTensor> parse_placed_tensor(const LayoutOptions& options) {
  const std::string_view text = options.tensor;
  const size_t at = text.rfind('@');
  if (at == std::string_view::npos) {
    return invalid_argument(
        "\"{}\" has no layout; expected TENSOR@LAYOUT, such as f32[10,7]@S(0),R", text);
  }
  Result<Mesh> mesh = Mesh::parse(options.mesh);
  if (!mesh.ok()) return mesh.status();
  Result<TensorMeta> meta = parse_meta(trim(text.substr(0, at)));
  if (!meta.ok()) return meta.status();
  const int ndim = static_cast<int>(meta->shape.size());
  Result<PlacedLayout> placed = parse_placed_layout(text.substr(at + 1), *mesh, ndim);
  if (!placed.ok()) return placed.status();
  Layout& layout = placed->layout;
  if (Status status = check_placements(*meta, layout, *mesh); !status.ok()) return status;
  layout = drop_unit_dims(layout, *mesh, meta->shape);
  if (options.reshape.empty())
    return PlacedTensor{*std::move(meta), std::move(layout), *std::move(mesh), placed->outermost};
  if (placed->outermost != 0) {
    return invalid_argument(
        "--reshape: a view needs local tensors that are row-major, but dim {} is outermost; leave "
        "out outermost({})",
        placed->outermost, placed->outermost);
  }
  Result<TensorMeta> shape = parse_meta(fmt::format("{}{}", name_of(meta->dtype), options.reshape));
  if (!shape.ok())
    return invalid_argument("--reshape: \"{}\" is no shape, expected one such as [4,6]",
                            options.reshape);
  Result<Layout> reshaped = reshaped_layout(meta->shape, layout, shape->shape, *mesh);
  if (!reshaped.ok()) return reshaped.status();
  return PlacedTensor{*std::move(shape), *std::move(reshaped), *std::move(mesh)};
}

// At most, over all dims: each cut leaves a rank what it had, and one more for each further chunk.
int64_t most_intervals(const PlacedTensor& placed) {
  int64_t count = static_cast<int64_t>(placed.meta.shape.size());
  for (const Placement& placement : placed.layout.placements) {
    if (placement.kind == Placement::Kind::kStridedShard)
      count += std::min(placement.split_factor, placed.meta.shape[placement.dim]);
  }
  return count;
}

Status check_size(const PlacedTensor& placed, int64_t ranks) {
  const int64_t each = most_intervals(placed);
  if (each <= kMostIntervals / std::max<int64_t>(ranks, 1)) return absl::OkStatus();
  return invalid_argument(
      "{} pieces on each of {} ranks are more than the {} that are shown; give a smaller tensor, "
      "mesh or split factor",
      each, ranks, kMostIntervals);
}

Json intervals_to_json(const IndexMap& map) {
  Json dims = Json::array();
  for (const Intervals& intervals : map.dims) {
    Json list = Json::array();
    for (const Interval& interval : intervals) list.push_back({interval.begin, interval.end});
    dims.push_back(std::move(list));
  }
  return dims;
}

Json rank_to_json(const PlacedTensor& placed, int64_t rank) {
  const Dims coordinate = placed.mesh.coordinate_of(rank);
  const IndexMap map = index_map(placed.meta.shape, placed.layout, placed.mesh, coordinate);
  return {{"coordinate", coordinate},
          {"shape", map.local_shape()},
          {"strides", strides_with_outermost(map.local_shape(), placed.outermost)},
          {"offset", map.offset(placed.meta.shape)},
          {"intervals", intervals_to_json(map)}};
}

// Rank by rank, so that a mesh of a million needs no more memory than one of two.
void write_json(Session& session, const PlacedTensor& placed) {
  constexpr size_t kChunk = 1 << 16;
  const Json head = {{"tensor", format_meta(placed.meta)},
                     {"layout", format_layout(placed.layout, placed.mesh)},
                     {"outermost", placed.outermost},
                     {"mesh", placed.mesh.format()}};
  const Json tail = {{"uneven", !is_even(placed.meta.shape, placed.layout, placed.mesh)},
                     {"empty", has_empty_shard(placed.meta.shape, placed.layout, placed.mesh)}};
  std::string text = head.dump();
  text.back() = ',';
  text += "\"ranks\":[";
  for (int64_t rank = 0; rank < placed.mesh.rank_count(); ++rank) {
    text += (rank == 0 ? "" : ",") + rank_to_json(placed, rank).dump();
    if (text.size() < kChunk) continue;
    session.write(text);
    text.clear();
  }
  session.write(text + "]," + tail.dump().substr(1) + "\n");
}

Result<ExitCode> run_layout(Session& session, const LayoutOptions& options) {
  const Result<PlacedTensor> placed = parse_placed_tensor(options);
  if (!placed.ok()) return placed.status();
  const int64_t ranks = placed->mesh.rank_count();
  const int64_t shown = session.flags.json ? ranks : std::min(ranks, kMostRankRows);
  if (Status status = check_size(*placed, shown); !status.ok()) return status;
  if (session.flags.json) {
    write_json(session, *placed);
  } else {
    session.write(layout_text(*placed));
  }
  return ExitCode::kFine;
}

}  // namespace

void add_layout(CLI::App& app, Session& session) {
  auto options = std::make_shared<LayoutOptions>();
  CLI::App* command = app.add_subcommand("layout", "Show which rank owns which part of a tensor");
  command
      ->add_option(
          "tensor", options->tensor,
          "Tensor and layout, such as f32[10,7]@S(0),S(1); ` outermost(1)` behind it where "
          "dim 1 is outermost in memory")
      ->type_name("TENSOR@LAYOUT")
      ->required();
  command->add_option("--mesh", options->mesh, "Mesh, outermost dim first, such as a=2,b=3")
      ->type_name("MESH")
      ->required();
  command
      ->add_option("--reshape", options->reshape,
                   "Show the tensor viewed as this shape, such as [70]: who owns what stays")
      ->type_name("SHAPE");
  command->footer("Example: onedim layout 'f32[10,7]@S(0),S(1)' --mesh a=2,b=3");
  command->callback([options, &session] {
    session.choose([options, &session] { return run_layout(session, *options); });
  });
}

}  // namespace onedim
