#include "tests/redistribute/brute_planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onedim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::set<int> to_set(const std::vector<int>& list, size_t begin) {
  return {list.begin() + static_cast<std::ptrdiff_t>(begin), list.end()};
}

bool is_linear(const Placement& p) { return p.is_partial("sum") || p.is_partial("avg"); }

// Tensor dims as they follow in memory, the outermost first.
std::vector<int> memory_sequence(size_t ndim, int outermost) {
  std::vector<int> sequence;
  if (ndim > 0) sequence.push_back(outermost);
  for (int t = 0; t < static_cast<int>(ndim); ++t) {
    if (t != outermost) sequence.push_back(t);
  }
  return sequence;
}

}  // namespace

BrutePlanner::BrutePlanner(const CostModel& model, TensorMeta meta, std::vector<std::string> kinds,
                           std::vector<Layout> given, BruteRules rules)
    : model_(model),
      mesh_(model.mesh()),
      meta_(std::move(meta)),
      kinds_(std::move(kinds)),
      rules_(rules) {
  list_layouts(given);
  for (const Layout& layout : layouts_) states_.push_back(measure(layout));
  const int orders = static_cast<int>(rules_.outermosts.size());
  const int count = static_cast<int>(layouts_.size()) * orders;
  steps_.resize(count);
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      if (from == to) continue;
      if (const std::optional<double> us =
              step_us(from / orders, to / orders, rules_.outermosts[from % orders],
                      rules_.outermosts[to % orders]))
        steps_[from].emplace_back(to, *us);
    }
  }
}

int BrutePlanner::find(const Layout& layout) const {
  return static_cast<int>(std::find(layouts_.begin(), layouts_.end(), layout) - layouts_.begin());
}

void BrutePlanner::list_layouts(const std::vector<Layout>& given) {
  std::vector<std::vector<Placement>> choices(mesh_.ndim());
  for (int d = 0; d < mesh_.ndim(); ++d) {
    choices[d].push_back(Placement::replicate());
    if (mesh_.size(d) == 1) continue;
    for (size_t t = 0; t < meta_.shape.size(); ++t) {
      if (meta_.shape[t] != 1) choices[d].push_back(Placement::shard(static_cast<int>(t)));
    }
    for (const std::string& kind : kinds_) choices[d].push_back(Placement::make_partial(kind));
    for (const Layout& layout : given) {
      const Placement& p = layout.placements[d];
      if (p.kind == Placement::Kind::kStridedShard &&
          std::find(choices[d].begin(), choices[d].end(), p) == choices[d].end())
        choices[d].push_back(p);
    }
  }
  std::vector<size_t> chosen(mesh_.ndim(), 0);
  while (true) {
    Layout layout = Layout::replicated(mesh_.ndim());
    bool may_stand = true;
    for (int d = 0; d < mesh_.ndim(); ++d) {
      layout.placements[d] = choices[d][chosen[d]];
      for (int e = 0; e < d; ++e) {
        const Placement &a = layout.placements[d], &b = layout.placements[e];
        may_stand &= !a.is_partial() || !b.is_partial() || can_stand_together(a, b);
      }
    }
    if (may_stand) add_orders(layout, 0);
    int d = mesh_.ndim();
    while (d-- > 0) {
      if (++chosen[d] < choices[d].size()) break;
      chosen[d] = 0;
    }
    if (d < 0) return;
  }
}

void BrutePlanner::add_orders(Layout layout, int tensor_dim) {
  if (tensor_dim == static_cast<int>(meta_.shape.size())) {
    layouts_.push_back(std::move(layout));
    return;
  }
  Dims order = layout.shard_order(tensor_dim);
  std::sort(order.begin(), order.end());
  do {
    Layout next = layout;
    next.set_shard_order(tensor_dim, order);
    add_orders(std::move(next), tensor_dim + 1);
  } while (std::next_permutation(order.begin(), order.end()));
}

BrutePlanner::State BrutePlanner::measure(const Layout& layout) const {
  State state;
  for (int64_t rank = 0; rank < mesh_.rank_count(); ++rank) {
    const IndexMap map = index_map(meta_.shape, layout, mesh_, mesh_.coordinate_of(rank));
    std::vector<Indices> owned;
    int64_t bytes = size_of(meta_.dtype);
    for (const Intervals& intervals : map.dims) {
      Indices indices;
      for (const Interval& interval : intervals) {
        for (int64_t i = interval.begin; i < interval.end; ++i) indices.push_back(i);
      }
      bytes *= static_cast<int64_t>(indices.size());
      owned.push_back(std::move(indices));
    }
    state.bytes = std::max(state.bytes, bytes);
    state.owned.push_back(std::move(owned));
  }
  for (size_t t = 0; t < meta_.shape.size(); ++t) {
    const Dims order = layout.shard_order(static_cast<int>(t));
    state.cutters.emplace_back(order.begin(), order.end());
  }
  if (rules_.nonempty) state.is_allowed &= !has_empty_shard(meta_.shape, layout, mesh_);
  if (rules_.even) state.is_allowed &= is_even(meta_.shape, layout, mesh_);
  return state;
}

BrutePlanner::Change BrutePlanner::change(int from, int to) const {
  Change change;
  for (size_t t = 0; t < meta_.shape.size(); ++t) {
    const std::vector<int>&a = states_[from].cutters[t], &b = states_[to].cutters[t];
    size_t common = 0;
    while (common < a.size() && common < b.size() && a[common] == b[common] &&
           layouts_[from].placements[a[common]] == layouts_[to].placements[b[common]])
      ++common;
    change.left.merge(to_set(a, common));
    change.joined.merge(to_set(b, common));
  }
  for (int d = 0; d < mesh_.ndim(); ++d) {
    const Placement &a = layouts_[from].placements[d], &b = layouts_[to].placements[d];
    if (a != b && (a.is_partial() || b.is_partial())) change.partial.insert(d);
  }
  return change;
}

int64_t BrutePlanner::rank_count(const std::set<int>& dims) const {
  int64_t count = 1;
  for (int d : dims) count *= mesh_.size(d);
  return count;
}

double BrutePlanner::us(Collective collective, const std::set<int>& dims, int64_t bytes) const {
  MeshDimSet set = 0;
  for (int d : dims) set |= MeshDimSet{1} << d;
  return model_.collective_us(collective, set, bytes);
}

// Whether two ranks that differ only in `dims` have parts of different shape.
bool BrutePlanner::differs_in_group(const State& state, const std::set<int>& dims) const {
  for (int64_t rank = 0; rank < mesh_.rank_count(); ++rank) {
    Dims first = mesh_.coordinate_of(rank);
    for (int d : dims) first[d] = 0;
    const auto &mine = state.owned[rank], &other = state.owned[mesh_.rank_of(first)];
    for (size_t t = 0; t < mine.size(); ++t) {
      if (mine[t].size() != other[t].size()) return true;
    }
  }
  return false;
}

// Whether one tensor dim is named and every rank has length 1 or less outside of it in memory.
bool BrutePlanner::is_flat(const State& state, const std::set<int>& tensor_dims,
                           int outermost) const {
  if (tensor_dims.size() != 1) return false;
  for (const auto& owned : state.owned) {
    for (const int t : memory_sequence(owned.size(), outermost)) {
      if (t == *tensor_dims.begin()) break;
      if (owned[t].size() > 1) return false;
    }
  }
  return true;
}

// The tensor dims that are longer than 1 on some rank in either state, as they follow in memory.
std::vector<int> BrutePlanner::long_dims(const State& a, const State& b, int outermost) const {
  std::vector<int> dims;
  for (const int t : memory_sequence(meta_.shape.size(), outermost)) {
    bool is_long = false;
    for (const State* state : {&a, &b}) {
      for (const auto& owned : state->owned) is_long |= owned[t].size() > 1;
    }
    if (is_long) dims.push_back(t);
  }
  return dims;
}

bool BrutePlanner::is_plain(int layout, const std::set<int>& dims) const {
  return std::all_of(dims.begin(), dims.end(), [&](int d) {
    return layouts_[layout].placements[d].kind == Placement::Kind::kShard;
  });
}

bool BrutePlanner::is_ascending(const State& state, const std::set<int>& dims) const {
  for (const std::vector<int>& cutters : state.cutters) {
    int last = -1;
    for (int d : cutters) {
      if (!dims.contains(d)) continue;
      if (d < last) return false;
      last = d;
    }
  }
  return true;
}

std::set<int> BrutePlanner::cut_dims(int layout, const std::set<int>& dims) const {
  std::set<int> tensor_dims;
  for (int d : dims) tensor_dims.insert(layouts_[layout].placements[d].dim);
  return tensor_dims;
}

int64_t BrutePlanner::most_missing(const State& from, const State& to) const {
  int64_t most = 0;
  for (int64_t rank = 0; rank < mesh_.rank_count(); ++rank) {
    int64_t wanted = size_of(meta_.dtype), kept = wanted;
    for (size_t t = 0; t < meta_.shape.size(); ++t) {
      const Indices &a = from.owned[rank][t], &b = to.owned[rank][t];
      Indices both;
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
      wanted *= static_cast<int64_t>(b.size());
      kept *= static_cast<int64_t>(both.size());
    }
    most = std::max(most, wanted - kept);
  }
  return most;
}

std::optional<double> BrutePlanner::capped(double us, int64_t memory) const {
  if (memory > rules_.memory_bytes) return std::nullopt;
  return us;
}

std::optional<double> BrutePlanner::gather(int from, int to, const std::set<int>& dims,
                                           const Memory& memory) const {
  const State &a = states_[from], &b = states_[to];
  const int64_t gathered = rank_count(dims) * a.bytes;
  const bool pads = differs_in_group(a, dims);
  const bool unpacks = pads || !memory.keeps || !is_plain(from, dims) || !is_ascending(a, dims) ||
                       !is_flat(b, cut_dims(from, dims), memory.to);
  return capped(us(Collective::kAllGather, dims, gathered) + copy(pads ? 2 * a.bytes : 0) +
                    copy(unpacks ? 2 * b.bytes : 0),
                a.bytes + b.bytes + (pads ? a.bytes : 0) + (unpacks ? gathered : 0));
}

std::optional<double> BrutePlanner::exchange(int from, int to, const std::set<int>& dims,
                                             const Memory& memory) const {
  const State &a = states_[from], &b = states_[to];
  const int64_t moved = most_missing(a, b), w = rank_count(dims);
  if (moved == 0) return memory.keeps ? capped(0, a.bytes) : std::nullopt;
  bool packs = !is_plain(to, dims) || !is_flat(a, cut_dims(to, dims), memory.from);
  bool unpacks = !is_plain(from, dims) || !is_flat(b, cut_dims(from, dims), memory.to);
  if (!packs && !unpacks && !memory.keeps) (a.bytes < b.bytes ? packs : unpacks) = true;
  const int64_t wire = (moved * w + w - 2) / (w - 1);
  return capped(us(Collective::kAllToAll, dims, std::max({a.bytes, b.bytes, wire})) +
                    copy(packs ? 2 * a.bytes : 0) + copy(unpacks ? 2 * b.bytes : 0),
                a.bytes + b.bytes + (packs ? a.bytes : 0) + (unpacks ? b.bytes : 0));
}

// slice and reduce_scatter: nothing is left, `joined` cuts in the second layout.
std::optional<double> BrutePlanner::cut(int from, int to, const Change& change,
                                        const Memory& memory) const {
  const State &a = states_[from], &b = states_[to];
  const std::set<int>& dims = change.joined;
  const bool simple =
      memory.keeps && is_plain(to, dims) && is_flat(a, cut_dims(to, dims), memory.from);
  if (change.partial.empty()) {
    const bool is_view = simple && rules_.memory_bytes == INT64_MAX;
    return capped(is_view ? 0 : copy(2 * b.bytes), a.bytes + (is_view ? 0 : b.bytes));
  }
  if (change.partial != dims) return std::nullopt;
  const int64_t scattered = rank_count(dims) * b.bytes;
  const bool packs = !simple || !is_ascending(b, dims) || differs_in_group(b, dims);
  return capped(
      us(Collective::kReduceScatter, dims, scattered) + copy(packs ? a.bytes + scattered : 0),
      a.bytes + b.bytes + (packs ? scattered : 0));
}

std::optional<double> BrutePlanner::partial_step(int from, int to, const Change& change,
                                                 const Memory& memory) const {
  if (!memory.keeps) return std::nullopt;
  const int64_t bytes = states_[from].bytes;
  bool all_from = true, all_to = true;
  std::set<Placement> before, after;
  for (int d : change.partial) {
    const Placement &a = layouts_[from].placements[d], &b = layouts_[to].placements[d];
    all_from &= a.is_partial();
    all_to &= b.is_partial();
    before.insert(a);
    after.insert(b);
  }
  if (all_from && !all_to && after == std::set{Placement::replicate()})
    return capped(us(Collective::kAllReduce, change.partial, bytes), 2 * bytes);
  if (!all_to || before.size() != 1 || after.size() != 1) return std::nullopt;
  const std::string& kind = after.begin()->partial;
  if (all_from) {
    if (!is_linear(*before.begin()) || !is_linear(*after.begin())) return std::nullopt;
    return capped(copy(2 * bytes), 2 * bytes);
  }
  if (!before.begin()->is_replicate()) return std::nullopt;
  if (kind == "sum" || kind == "product") return capped(copy(bytes), 2 * bytes);
  return capped(0, bytes);
}

std::optional<double> BrutePlanner::step_us(int from, int to, int from_outermost,
                                            int to_outermost) const {
  const State &a_state = states_[from], &b_state = states_[to];
  const Memory memory{
      from_outermost, to_outermost,
      long_dims(a_state, b_state, from_outermost) == long_dims(a_state, b_state, to_outermost)};
  if (from == to) {
    const int64_t bytes = a_state.bytes;
    return memory.keeps ? capped(0, bytes) : capped(copy(2 * bytes), 2 * bytes);
  }
  const Change change = this->change(from, to);
  if (!change.left.empty() && change.left == change.joined && change.partial.empty())
    return exchange(from, to, change.left, memory);
  if (!change.left.empty() && change.joined.empty()) {
    if (change.partial.empty()) return gather(from, to, change.left, memory);
    std::set<Placement> after;
    for (int d : change.left) after.insert(layouts_[to].placements[d]);
    const bool may = rules_.shard_to_partial && change.partial == change.left &&
                     after.size() == 1 &&
                     (after.begin()->is_partial("sum") || after.begin()->is_partial("product"));
    if (!may || !memory.keeps) return std::nullopt;
    const int64_t a = states_[from].bytes, b = states_[to].bytes;
    return capped(copy(a + b), a + b);
  }
  if (change.left.empty() && !change.joined.empty()) return cut(from, to, change, memory);
  if (change.left.empty() && change.joined.empty()) return partial_step(from, to, change, memory);
  return std::nullopt;
}

std::vector<double> BrutePlanner::costs_from(int source) const {
  const size_t orders = rules_.outermosts.size();
  std::vector<double> costs(steps_.size(), kNever);
  costs[source] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t from = 0; from < steps_.size(); ++from) {
      if (costs[from] == kNever) continue;
      for (const auto& [to, us] : steps_[from]) {
        const bool is_source = to / orders == source / orders;  // which lies as it was given
        if ((!states_[to / orders].is_allowed && !is_source) || costs[from] + us >= costs[to])
          continue;
        costs[to] = costs[from] + us;
        changed = true;
      }
    }
  }
  return costs;
}

}  // namespace onedim
