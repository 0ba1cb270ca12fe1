#include "core/select/strategy.hpp"

#include <algorithm>
#include <set>

#include "core/pack/foreign_call.hpp"
#include "core/select/equal_layouts.hpp"
#include "core/select/strategy_state.hpp"

namespace onedim {
namespace {

const Placement& placement_on(const RuleChoices& choices, int rule, bool is_output, size_t slot) {
  const Rule& chosen = choices.rules()[rule].rule;
  return is_output ? chosen.outputs[slot] : chosen.inputs[slot];
}

Layout layout_of(const RuleChoices& choices, const Strategy& strategy, bool is_output, size_t slot,
                 const Mesh& mesh) {
  std::vector<Placement> placements;
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    const Placement& placement = placement_on(choices, strategy.rules[mesh_dim], is_output, slot);
    const bool is_unit = mesh.size(mesh_dim) == 1 && !placement.is_none();
    placements.push_back(is_unit ? Placement::replicate() : placement);
  }
  return layout_in_order(std::move(placements), strategy.order);
}

constexpr int64_t kMostRanksAsked = 256;

// Coordinates of one mesh dim at which ranks may cut differently. Where all cuts divide, the first
// stands for all.
using Coordinates = std::set<int64_t>;

// Adds where the pieces of `length` cut into `size` change their length: at the first that is not
// full, and behind it.
void add_changes(int64_t length, int64_t size, Coordinates& telling) {
  const int64_t piece = (length + size - 1) / size;
  const int64_t change = piece == 0 ? 0 : length / piece;
  for (const int64_t at : {change, change + 1}) telling.insert(std::min(at, size - 1));
}

// Of a strided shard each chunk is cut by itself, and the last may be shorter.
void add_telling(const Dims& shape, const Layout& layout, const Mesh& mesh,
                 std::vector<Coordinates>& telling) {
  absl::InlinedVector<CutLengths, 6> lengths(shape.begin(), shape.end());
  for (const int64_t mesh_dim : layout.cutting_order()) {
    const Placement& placement = layout.placements[mesh_dim];
    if (!placement.is_shard()) continue;
    CutLengths& length = lengths[placement.dim];
    const int64_t size = mesh.size(static_cast<int>(mesh_dim));
    const Cut cut = cut_of(placement, size);
    const CutLengths before = length;
    if (length.cut(cut).divides) continue;
    telling[mesh_dim].insert(size - 1);
    for (const int64_t whole : before.lengths()) {
      const int64_t chunk = (whole + cut.split_factor - 1) / cut.split_factor;
      if (chunk == 0) continue;
      add_changes(chunk, size, telling[mesh_dim]);
      add_changes(whole % chunk, size, telling[mesh_dim]);
    }
  }
}

std::vector<Coordinates> telling_coordinates(const SelectSubject& subject,
                                             std::span<const Layout> inputs,
                                             std::span<const Layout> outputs) {
  std::vector<Coordinates> telling(subject.mesh.ndim(), Coordinates{0});
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    if (subject.call.inputs[slot])
      add_telling(subject.call.inputs[slot]->shape, inputs[slot], subject.mesh, telling);
  }
  for (size_t slot = 0; slot < outputs.size(); ++slot) {
    if (subject.outputs[slot])
      add_telling(subject.outputs[slot]->meta.shape, outputs[slot], subject.mesh, telling);
  }
  // What such an op accepts may depend on where a rank stands: the ends of each mesh dim are asked,
  // and where pieces differ all ranks, unless they are too many.
  if (subject.op.is_position_aware()) {
    const bool is_even = std::all_of(telling.begin(), telling.end(),
                                     [](const Coordinates& some) { return some.size() == 1; });
    const bool asks_all = !is_even && subject.mesh.rank_count() <= kMostRanksAsked;
    for (int mesh_dim = 0; mesh_dim < subject.mesh.ndim(); ++mesh_dim) {
      const int64_t last = subject.mesh.size(mesh_dim) - 1;
      for (int64_t at = asks_all ? 0 : last; at <= last; ++at) telling[mesh_dim].insert(at);
    }
  }
  return telling;
}

}  // namespace

Layout input_layout(const RuleChoices& choices, const Strategy& strategy, size_t slot,
                    const Mesh& mesh) {
  return layout_of(choices, strategy, false, slot, mesh);
}

Layout output_layout(const RuleChoices& choices, const Strategy& strategy, size_t slot,
                     const Mesh& mesh) {
  return layout_of(choices, strategy, true, slot, mesh);
}

Layout without_unit_dims(const Layout& layout, const Mesh& mesh, std::span<const int64_t> shape) {
  Layout result = drop_unit_dims(layout, mesh, shape);
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    Placement& placement = result.placements[mesh_dim];
    if (mesh.size(mesh_dim) == 1 && placement.is_partial()) placement = Placement::replicate();
  }
  return result;
}

Status check_strategy(const SelectSubject& subject, const RuleChoices& choices,
                      const Strategy& strategy) {
  const StrategyFrame frame(subject, strategy.order);
  StrategyState state(frame);
  for (const int64_t mesh_dim : strategy.order) {
    const Rule& rule = choices.rules()[strategy.rules[mesh_dim]].rule;
    const Refusal refusal = state.apply(frame, rule, static_cast<int>(mesh_dim));
    if (refusal.refused()) return refusal_status(frame, rule, static_cast<int>(mesh_dim), refusal);
  }
  return absl::OkStatus();
}

Status visit_local_calls(const SelectSubject& subject, std::span<const Layout> inputs,
                         std::span<const Layout> outputs, std::span<const uint64_t> tags,
                         const std::function<Status(const LocalCall&)>& visit) {
  const ForeignCall running(subject.op, "infer or accept_local");
  std::vector<Dims> coordinates{{}};
  for (const Coordinates& telling : telling_coordinates(subject, inputs, outputs)) {
    std::vector<Dims> longer;
    for (const Dims& coordinate : coordinates) {
      for (const int64_t next : telling) {
        longer.push_back(coordinate);
        longer.back().push_back(next);
      }
    }
    coordinates = std::move(longer);
  }
  for (const Dims& coordinate : coordinates) {
    Result<LocalCall> local = make_local_call(subject.op, subject.call, subject.outputs, inputs,
                                              outputs, subject.mesh, coordinate, tags);
    if (!local.ok()) return local.status();
    if (!local->matches_layouts)
      return invalid_argument("{}: the local call at {} gives other shapes than the layouts say",
                              subject.op.name(), format_dims(coordinate));
    if (Status status = visit(*local); !status.ok()) return status;
  }
  return absl::OkStatus();
}

Status check_local_calls(const SelectSubject& subject, std::span<const Layout> inputs,
                         std::span<const Layout> outputs, std::span<const uint64_t> tags) {
  return visit_local_calls(subject, inputs, outputs, tags,
                           [](const LocalCall&) { return absl::OkStatus(); });
}

}  // namespace onedim
