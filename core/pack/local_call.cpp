#include "core/pack/local_call.hpp"

#include <algorithm>

#include "core/pack/variant.hpp"

namespace onedim {
namespace {

// What all steps share.
struct Site {
  const Op& op;
  const Mesh& mesh;
  const Dims& coordinate;
};

Status check_layout(const Site& site, const TensorMeta& meta, const Layout& layout,
                    std::string_view side, size_t slot) {
  if (layout.placements.size() != static_cast<size_t>(site.mesh.ndim())) {
    return invalid_argument("{}: the layout of {} {} has {} placements, but the mesh has {} dims",
                            site.op.name(), side, slot, layout.placements.size(), site.mesh.ndim());
  }
  for (const Placement& placement : layout.placements) {
    if (!placement.is_shard() ||
        (placement.dim >= 0 && placement.dim < static_cast<int>(meta.shape.size())))
      continue;
    return invalid_argument("{}: {} of {} {} names a dim that {} does not have", site.op.name(),
                            format_placement(placement), side, slot, format_meta(meta));
  }
  return absl::OkStatus();
}

// The location of one slot; an absent one has no dims and placements `-`.
Result<SlotLocation> locate(const Site& site, const TensorMeta* meta, const Layout& layout,
                            std::string_view side, size_t slot) {
  SlotLocation location;
  if (meta == nullptr) {
    location.placements.assign(site.mesh.ndim(), Placement::none());
    return location;
  }
  if (Status status = check_layout(site, *meta, layout, side, slot); !status.ok()) return status;
  location.global_shape = meta->shape;
  location.map = index_map(meta->shape, layout, site.mesh, site.coordinate);
  location.placements = layout.placements;
  return location;
}

Status check_counts(const Site& site, const Call& call, size_t outputs, size_t input_layouts,
                    size_t output_layouts, size_t tags) {
  if (input_layouts != call.inputs.size() || output_layouts != outputs) {
    return invalid_argument("{}: {} input and {} output layouts for {} and {} slots",
                            site.op.name(), input_layouts, output_layouts, call.inputs.size(),
                            outputs);
  }
  if (tags != static_cast<size_t>(site.mesh.ndim()) || site.coordinate.size() != tags) {
    return invalid_argument("{}: {} tags and a coordinate of {} for a mesh of {} dims",
                            site.op.name(), tags, site.coordinate.size(), site.mesh.ndim());
  }
  for (size_t i = 0; i < tags; ++i) {
    if (site.coordinate[i] >= 0 && site.coordinate[i] < site.mesh.size(static_cast<int>(i)))
      continue;
    return invalid_argument("{}: coordinate {} is not in mesh {}", site.op.name(),
                            format_dims(site.coordinate), site.mesh.format());
  }
  return absl::OkStatus();
}

// A tensor that is read and written has one layout.
Status check_written(const Site& site, const Call& call, const Location& location) {
  if (site.op.plain == nullptr) return absl::OkStatus();
  const std::vector<int> written = written_slots(site.op, call);
  for (size_t i = 0; i < written.size(); ++i) {
    const SlotLocation& input = location.inputs[written[i]];
    const SlotLocation& output = location.outputs[i];
    const auto same_value = [](const Placement& a, const Placement& b) {
      return a == b ||
             (!a.is_partial() && !b.is_partial());  // shards are compared by the index map
    };
    if (input.map == output.map && std::equal(input.placements.begin(), input.placements.end(),
                                              output.placements.begin(), same_value)) {
      continue;
    }
    return invalid_argument(
        "{}: output {} is written into input {}, so their layouts must be equal", site.op.name(), i,
        written[i]);
  }
  return absl::OkStatus();
}

std::pair<std::string, Value>* find_attribute(Call& call, std::string_view name) {
  for (auto& attribute : call.attributes) {
    if (attribute.first == name) return &attribute;
  }
  return nullptr;
}

// Sizes of output dims become local sizes, -1 too.
Status localize_sizes(const Site& site, const Location& location, const SizeAttribute& size,
                      Call& call) {
  std::pair<std::string, Value>* attribute = find_attribute(call, size.attribute);
  if (attribute == nullptr || attribute->second.is_none()) return absl::OkStatus();
  if (static_cast<size_t>(size.output_slot) >= location.outputs.size()) {
    return invalid_argument("{}: size attribute \"{}\" describes output {}, which is not there",
                            site.op.name(), size.attribute, size.output_slot);
  }
  const Dims local = location.outputs[size.output_slot].map.local_shape();
  ValueList* items = std::get_if<ValueList>(&attribute->second.data);
  const size_t count = items == nullptr ? 1 : items->size();
  if (size.first_dim + count > local.size()) {
    return invalid_argument(
        "{}: size attribute \"{}\" has {} sizes from dim {} on, but output {} has {} dims",
        site.op.name(), size.attribute, count, size.first_dim, size.output_slot, local.size());
  }
  for (size_t i = 0; i < count; ++i) {
    (items == nullptr ? attribute->second : (*items)[i]) =
        Value{int64_t{local[size.first_dim + i]}};
  }
  return absl::OkStatus();
}

bool matches(std::span<const OptionalOutput> inferred, const Location& location,
             std::span<const OptionalOutput> global) {
  if (inferred.size() != global.size()) return false;
  for (size_t i = 0; i < global.size(); ++i) {
    if (inferred[i].has_value() != global[i].has_value()) return false;
    if (!inferred[i]) continue;
    if (inferred[i]->meta.shape != location.outputs[i].map.local_shape()) return false;
    if (inferred[i]->meta.dtype != global[i]->meta.dtype) return false;
  }
  return true;
}

}  // namespace

Result<LocalCall> make_local_call(const Op& op, const Call& call,
                                  std::span<const OptionalOutput> outputs,
                                  std::span<const Layout> input_layouts,
                                  std::span<const Layout> output_layouts, const Mesh& mesh,
                                  const Dims& coordinate, std::span<const uint64_t> tags) {
  const Site site{op, mesh, coordinate};
  Status status = check_counts(site, call, outputs.size(), input_layouts.size(),
                               output_layouts.size(), tags.size());
  if (!status.ok()) return status;
  LocalCall local{call, {}, {mesh.sizes(), coordinate, {}, {}, {tags.begin(), tags.end()}}, false};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    OptionalMeta& meta = local.call.inputs[i];
    Result<SlotLocation> place =
        locate(site, meta ? &*meta : nullptr, input_layouts[i], "input", i);
    if (!place.ok()) return place.status();
    if (meta) meta = TensorMeta::contiguous(meta->dtype, place->map.local_shape());
    local.location.inputs.push_back(*std::move(place));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorMeta* meta = outputs[i] ? &outputs[i]->meta : nullptr;
    Result<SlotLocation> place = locate(site, meta, output_layouts[i], "output", i);
    if (!place.ok()) return place.status();
    local.location.outputs.push_back(*std::move(place));
  }
  if (status = check_written(site, call, local.location); !status.ok()) return status;
  for (const SizeAttribute& size : op.size_attributes) {
    if (status = localize_sizes(site, local.location, size, local.call); !status.ok())
      return status;
  }
  Result<std::vector<OptionalOutput>> inferred = op.infer(local.call, &local.location);
  if (!inferred.ok()) return inferred.status();
  local.outputs = *std::move(inferred);
  local.matches_layouts = matches(local.outputs, local.location, outputs);
  if (!local.matches_layouts) return local;
  status = op.accept_local(local.call, local.outputs, &local.location);
  if (!status.ok()) return status;
  return local;
}

}  // namespace onedim
