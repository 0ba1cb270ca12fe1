#include "core/select/move_frontier.hpp"

#include <algorithm>

#include "core/select/equal_layouts.hpp"

namespace onedim {
namespace {

void insert_kind(const Placement& placement, std::vector<std::string>& kinds) {
  if (!placement.is_partial()) return;
  if (std::find(kinds.begin(), kinds.end(), placement.partial) == kinds.end())
    kinds.push_back(placement.partial);
}

bool holds(const Layout& layout, std::string_view kind) {
  return std::any_of(layout.placements.begin(), layout.placements.end(),
                     [&](const Placement& placement) { return placement.is_partial(kind); });
}

// Whether R alone can become P(kind), and nothing be reduced with it on the way.
bool is_of_replicas(const Layout& current, const std::string& kind, bool allow_shard_to_partial) {
  if (!is_idempotent_partial(kind) || holds(current, kind)) return false;
  return !is_linear_partial(kind) || (!holds(current, "sum") && !allow_shard_to_partial);
}

std::vector<std::string> kinds_of(const FrontierSlot& slot, bool allow_shard_to_partial) {
  std::vector<std::string> kinds;
  for (const Placement& placement : slot.current->placements) insert_kind(placement, kinds);
  for (const Placement& placement : *slot.placements) {
    const bool is_asked =
        slot.kinds == nullptr ||
        std::find(slot.kinds->begin(), slot.kinds->end(), placement.partial) != slot.kinds->end();
    if (!is_asked) continue;
    if (slot.relabels || !is_of_replicas(*slot.current, placement.partial, allow_shard_to_partial))
      insert_kind(placement, kinds);
  }
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

// Layouts whose strided shards the alphabet must hold: the current one, and each that a strategy
// may ask for, on every mesh dim.
std::vector<Layout> strided_of(const FrontierSlot& slot) {
  std::vector<Layout> layouts;
  const auto is_strided = [](const Placement& p) {
    return p.kind == Placement::Kind::kStridedShard;
  };
  const std::vector<Placement>& now = slot.current->placements;
  if (std::any_of(now.begin(), now.end(), is_strided)) layouts.push_back(*slot.current);
  for (const Placement& placement : *slot.placements) {
    if (!is_strided(placement)) continue;
    layouts.push_back({std::vector<Placement>(now.size(), placement), {}});
  }
  return layouts;
}

// Whether the partial kinds and strided shards of `code` are those of `a` or `b`, the strided ones
// on the same mesh dims.
bool is_between(const Alphabet& alphabet, StateCode code, StateCode a, StateCode b) {
  uint32_t kinds = 0;
  for (int i = 0; i < alphabet.mesh_ndim(); ++i)
    kinds |= uint32_t{1} << Alphabet::symbol_of(a, i) | uint32_t{1} << Alphabet::symbol_of(b, i);
  for (int i = 0; i < alphabet.mesh_ndim(); ++i) {
    const int symbol = Alphabet::symbol_of(code, i);
    if (alphabet.is_partial(symbol) && (kinds >> symbol & 1) == 0) return false;
    if (alphabet.is_strided(symbol) && symbol != Alphabet::symbol_of(a, i) &&
        symbol != Alphabet::symbol_of(b, i))
      return false;
  }
  return true;
}

}  // namespace

// Where it lies row-major; to say the same with another layout counts as a step, so that ties go to
// the layout that was given.
void MoveFrontier::enter_as_given(const Dims& order, const Mesh& mesh, SlotCosts& costs) {
  if (slot_.outermost != 0) return;
  Dims all = order;  // mesh dims of one rank cut nothing
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    if (mesh.size(mesh_dim) == 1) all.push_back(mesh_dim);
  }
  for (const Layout& layout :
       equal_layouts(slot_.meta->shape, *slot_.current, *slot_.placements, all, mesh)) {
    uint64_t code = 0;
    for (const int64_t mesh_dim : order) {
      const auto found = std::find(slot_.placements->begin(), slot_.placements->end(),
                                   layout.placements[mesh_dim]);
      code = code * costs.radix() + static_cast<uint64_t>(found - slot_.placements->begin());
    }
    const bool is_given = layout == *slot_.current;
    costs.set(code, {0, 0, 0, !is_given, !is_given});
  }
}

Status MoveFrontier::start(const CostModel& model, GraphLeases& graphs,
                           const SelectOptions& options, const FrontierSlot& slot,
                           std::span<const Dims> orders, const std::vector<int64_t>* ends) {
  slot_ = slot;
  orders_ = orders;
  entered_ = 0;
  const int radix = std::max<int>(1, static_cast<int>(slot.placements->size()));
  if (costs_.size() < orders.size()) costs_.resize(orders.size());
  for (size_t i = 0; i < orders.size(); ++i) {
    costs_[i].reset(radix, static_cast<int>(orders[i].size()));
    if (slot.stays) enter_as_given(orders[i], model.mesh(), costs_[i]);
  }
  if (slot.stays) return absl::OkStatus();
  const std::vector<Layout> strided = strided_of(slot);
  std::vector<const Layout*> layouts;
  for (const Layout& layout : strided) layouts.push_back(&layout);
  const Result<StateGraph*> graph = graphs.get({static_cast<int>(slot.meta->shape.size()),
                                                kinds_of(slot, options.allow_shard_to_partial),
                                                layouts, options.allow_shard_to_partial, false});
  if (!graph.ok()) return graph.status();
  graph_ = *graph;
  const Alphabet& alphabet = graph_->alphabet();
  digit_of_symbol_.fill(-1);
  for (int symbol = 0; symbol < alphabet.symbol_count(); ++symbol) {
    const auto found =
        std::find(slot.placements->begin(), slot.placements->end(), alphabet.symbol(symbol));
    if (found != slot.placements->end())
      digit_of_symbol_[symbol] = static_cast<int8_t>(found - slot.placements->begin());
  }
  for (int i = 0; i < alphabet.mesh_ndim(); ++i)
    code_place_of_mesh_dim_[alphabet.mesh_dim(i)] = static_cast<int8_t>(i);
  const std::optional<StateCode> source = alphabet.encode(*slot.current);
  if (!source) {
    return invalid_argument("layout {} cannot be planned from",
                            format_layout(*slot.current, model.mesh()));
  }
  source_ = graph_->intern(*source);
  members_.clear();
  for (const TensorMeta& meta : slot.moved) members_.push_back({meta.shape, size_of(meta.dtype)});
  request_ = {&model,
              members_,
              options.policy,
              options.memory_bytes,
              options.allow_shard_to_partial,
              slot.outermost,
              0};
  if (ends != nullptr) rest_.start(bound_, *ends, alphabet, *source, slot.relabels, orders);
  search_.begin(*graph_, request_, source_, ends != nullptr ? &rest_ : nullptr);
  return absl::OkStatus();
}

void MoveFrontier::settle(int64_t limit_ps) {
  if (slot_.stays) return;
  search_.settle(limit_ps);
  for (; entered_ < search_.settled().size(); ++entered_) enter(search_.settled()[entered_]);
}

void MoveFrontier::enter(int state) {
  const Alphabet& alphabet = graph_->alphabet();
  const StateCode state_code = graph_->code(state);
  const PathCost& cost = search_.cost(state);
  for (size_t i = 0; i < orders_.size(); ++i) {
    uint64_t code = 0;
    std::array<int8_t, 32> cuts{};  // per tensor dim, so far
    bool fits = true;
    for (const int64_t mesh_dim : orders_[i]) {
      const int8_t place = code_place_of_mesh_dim_[mesh_dim];
      const int symbol = Alphabet::symbol_of(state_code, place);
      const int8_t digit = digit_of_symbol_[symbol];
      fits = digit >= 0 && (!alphabet.is_shard(symbol) || Alphabet::place_of(state_code, place) ==
                                                              cuts[alphabet.tensor_dim(symbol)]++);
      if (!fits) break;
      code = code * costs_[i].radix() + static_cast<uint64_t>(digit);
    }
    if (!fits) continue;
    const bool moves = state != source_ || cost.steps > 0;
    costs_[i].set(code, {cost.ps, cost.collectives, cost.bytes, moves, cost.steps});
  }
}

std::shared_ptr<const Plan> MoveFrontier::plan_to(const Layout& layout) {
  if (slot_.stays) return nullptr;
  const std::optional<StateCode> target = graph_->alphabet().encode(layout);
  const int state = target ? graph_->find(*target) : -1;
  if (state < 0 || !search_.is_settled(state)) return nullptr;
  const std::vector<PathStep> path = search_.path_to(state);
  const StateCode source_code = graph_->code(source_);
  for (const PathStep& step : path) {
    if (!is_between(graph_->alphabet(), graph_->code(step.step.to), source_code, *target))
      return nullptr;
  }
  return make_plan(path, *graph_, request_, *slot_.current, layout);
}

}  // namespace onedim
