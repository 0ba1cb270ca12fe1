#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/layout/index_map.hpp"
#include "core/tensor/tensor.hpp"
#include "tools/commands/commands.hpp"
#include "tools/layout_picture.hpp"

namespace onedim {
namespace {

struct LayoutOptions {
  std::string tensor;
  std::string mesh;
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
  Result<Layout> layout = parse_layout(trim(text.substr(at + 1)), *mesh, ndim);
  if (!layout.ok()) return layout.status();
  return PlacedTensor{*std::move(meta), *std::move(layout), *std::move(mesh)};
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
          {"offset", map.offset(placed.meta.shape)},
          {"intervals", intervals_to_json(map)}};
}

Json to_json(const PlacedTensor& placed) {
  Json ranks = Json::array();
  for (int64_t rank = 0; rank < placed.mesh.rank_count(); ++rank) {
    ranks.push_back(rank_to_json(placed, rank));
  }
  return {{"tensor", format_meta(placed.meta)},
          {"layout", format_layout(placed.layout, placed.mesh)},
          {"mesh", placed.mesh.format()},
          {"ranks", std::move(ranks)},
          {"uneven", !is_even(placed.meta.shape, placed.layout, placed.mesh)},
          {"empty", has_empty_shard(placed.meta.shape, placed.layout, placed.mesh)}};
}

Result<ExitCode> run_layout(Session& session, const LayoutOptions& options) {
  const Result<PlacedTensor> placed = parse_placed_tensor(options);
  if (!placed.ok()) return placed.status();
  if (session.flags.json) {
    session.write_json(to_json(*placed));
  } else {
    session.write(layout_text(*placed));
  }
  return ExitCode::kFine;
}

}  // namespace

void add_layout(CLI::App& app, Session& session) {
  auto options = std::make_shared<LayoutOptions>();
  CLI::App* command = app.add_subcommand("layout", "Show which rank owns which part of a tensor");
  command->add_option("tensor", options->tensor, "Tensor and layout, such as f32[10,7]@S(0),S(1)")
      ->type_name("TENSOR@LAYOUT")
      ->required();
  command->add_option("--mesh", options->mesh, "Mesh, outermost dim first, such as a=2,b=3")
      ->type_name("MESH")
      ->required();
  command->footer("Example: onedim layout 'f32[10,7]@S(0),S(1)' --mesh a=2,b=3");
  command->callback([options, &session] {
    session.choose([options, &session] { return run_layout(session, *options); });
  });
}

}  // namespace onedim
