#include "core/select/move_frontier.hpp"

#include <algorithm>
#include <map>

#include "core/select/strategy_state.hpp"

namespace onedim {
namespace {

// The states of one alphabet and the steps between them depend on the mesh alone, so a thread keeps
// them. Few alphabets occur; a new mesh, or too many, starts afresh.
constexpr size_t kMostGraphs = 64;

Result<std::shared_ptr<StateGraph>> own_graph(const Mesh& mesh, int ndim,
                                              const std::vector<std::string>& kinds,
                                              std::span<const Layout> strided,
                                              bool allow_shard_to_partial) {
  thread_local Mesh known_mesh = Mesh::line(1);
  thread_local std::map<std::string, std::shared_ptr<StateGraph>> graphs;
  if (known_mesh != mesh || graphs.size() >= kMostGraphs) {
    graphs.clear();
    known_mesh = mesh;
  }
  std::string key = fmt::format("{}{}", ndim, allow_shard_to_partial ? "!" : "");
  for (const std::string& kind : kinds) key += "|" + kind;
  for (const Layout& layout : strided) key += ";" + format_layout(layout, mesh);
  std::shared_ptr<StateGraph>& graph = graphs[key];
  if (graph != nullptr) return graph;
  std::vector<const Layout*> layouts;
  for (const Layout& layout : strided) layouts.push_back(&layout);
  Result<Alphabet> alphabet = Alphabet::create(mesh, ndim, kinds, layouts);
  if (!alphabet.ok()) return alphabet.status();
  graph = std::make_shared<StateGraph>(*std::move(alphabet), allow_shard_to_partial);
  return graph;
}

void insert_kind(const Placement& placement, std::vector<std::string>& kinds) {
  if (!placement.is_partial()) return;
  if (std::find(kinds.begin(), kinds.end(), placement.partial) == kinds.end())
    kinds.push_back(placement.partial);
}

std::vector<std::string> kinds_of(const FrontierSlot& slot) {
  std::vector<std::string> kinds;
  for (const Placement& placement : slot.current->placements) insert_kind(placement, kinds);
  for (const Placement& placement : *slot.placements) insert_kind(placement, kinds);
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

}  // namespace

void MoveFrontier::enter_as_given(const Dims& order, SlotCosts& costs) {
  if (!cuts_in_order(*slot_.current, order, static_cast<int>(slot_.meta->shape.size()))) return;
  uint64_t code = 0;
  for (const int64_t mesh_dim : order) {
    const auto found = std::find(slot_.placements->begin(), slot_.placements->end(),
                                 slot_.current->placements[mesh_dim]);
    if (found == slot_.placements->end()) return;
    code = code * costs.radix() + static_cast<uint64_t>(found - slot_.placements->begin());
  }
  costs.set(code, {});
}

Status MoveFrontier::start(const CostModel& model, const SelectOptions& options,
                           const FrontierSlot& slot, std::span<const Dims> orders) {
  slot_ = slot;
  orders_ = orders;
  entered_ = 0;
  const int radix = std::max<int>(1, static_cast<int>(slot.placements->size()));
  if (costs_.size() < orders.size()) costs_.resize(orders.size());
  for (size_t i = 0; i < orders.size(); ++i) {
    costs_[i].reset(radix, static_cast<int>(orders[i].size()));
    if (slot.stays) enter_as_given(orders[i], costs_[i]);
  }
  if (slot.stays) return absl::OkStatus();
  Result<std::shared_ptr<StateGraph>> graph =
      own_graph(model.mesh(), static_cast<int>(slot.meta->shape.size()), kinds_of(slot),
                strided_of(slot), options.allow_shard_to_partial);
  if (!graph.ok()) return graph.status();
  graph_ = *std::move(graph);
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
  member_ = {slot.meta->shape, size_of(slot.meta->dtype)};
  SearchRequest request;
  request.model = &model;
  request.group = std::span(&member_, 1);
  request.policy = options.policy;
  request.memory_bytes = options.memory_bytes;
  request.allow_shard_to_partial = options.allow_shard_to_partial;
  search_.begin(*graph_, request, source_);
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
      const int place = code_place_of_mesh_dim_[mesh_dim];
      const int symbol = Alphabet::symbol_of(state_code, place);
      const int digit = digit_of_symbol_[symbol];
      fits = digit >= 0 && (!alphabet.is_shard(symbol) || Alphabet::place_of(state_code, place) ==
                                                              cuts[alphabet.tensor_dim(symbol)]++);
      if (!fits) break;
      code = code * costs_[i].radix() + static_cast<uint64_t>(digit);
    }
    if (fits) costs_[i].set(code, {cost.ps, cost.collectives, cost.bytes, state != source_});
  }
}

}  // namespace onedim
