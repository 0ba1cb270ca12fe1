#include "core/plan/move_tables.hpp"

#include <algorithm>

namespace onedim {
namespace {

// What a key is of.
enum KeyKind : int { kDirect, kFixed, kHub, kSourceToHub, kHubToConsumer };

// The layouts of a column, each once, in the order in which they stand there.
std::vector<LayoutId> distinct(std::span<const std::vector<Wants>* const> columns) {
  std::vector<LayoutId> found;
  absl::flat_hash_map<LayoutId, bool> seen;
  for (const std::vector<Wants>* column : columns) {
    for (const Wants& wants : *column) {
      for (const LayoutId layout : wants) {
        if (seen.try_emplace(layout, true).second) found.push_back(layout);
      }
    }
  }
  return found;
}

Cost add(Cost a, Cost b) { return std::min(kForbidden, a + b); }

}  // namespace

// Prices of one tensor by number of layout, for tables that look up the same ones again and again.
class PriceGrid {
 public:
  static Result<PriceGrid> make(MovePrices& prices, const TensorMeta& tensor,
                                std::vector<LayoutId> from, std::vector<LayoutId> to) {
    Result<std::vector<Cost>> costs = prices.between(tensor, from, to);
    if (!costs.ok()) return costs.status();
    PriceGrid grid;
    grid.costs_ = *std::move(costs);
    grid.columns_ = to.size();
    for (size_t i = 0; i < from.size(); ++i) grid.rows_of_[from[i]] = i;
    for (size_t i = 0; i < to.size(); ++i) grid.columns_of_[to[i]] = i;
    return grid;
  }
  Cost at(LayoutId from, LayoutId to) const {
    return costs_[rows_of_.at(from) * columns_ + columns_of_.at(to)];
  }

 private:
  std::vector<Cost> costs_;
  size_t columns_ = 0;
  absl::flat_hash_map<LayoutId, size_t> rows_of_, columns_of_;
};

int MoveTables::tensor_id(const TensorMeta& tensor) {
  const auto key = std::make_pair(static_cast<int>(tensor.dtype), tensor.shape);
  return tensor_ids_.try_emplace(key, static_cast<int>(tensor_ids_.size())).first->second;
}

std::vector<LayoutId> MoveTables::layouts_of(std::span<const ColumnId> columns) const {
  std::vector<const std::vector<Wants>*> all;
  for (const ColumnId id : columns) all.push_back(&columns_[id]);
  return distinct(all);
}

ColumnId MoveTables::add_column(std::vector<Wants> column) {
  const auto [found, is_new] =
      column_ids_.try_emplace(std::move(column), static_cast<ColumnId>(columns_.size()));
  if (is_new) columns_.push_back(found->first);
  return found->second;
}

Result<int> MoveTables::direct(const TensorMeta& tensor, ColumnId source, ColumnId wants,
                               bool may_move) {
  const auto [known, is_new] = known_.try_emplace(
      std::vector<int>{may_move ? kDirect : kFixed, tensor_id(tensor), source, wants}, -1);
  if (!is_new) return known->second;
  const std::vector<Wants>& rows = columns_[source];
  const std::vector<Wants>& columns = columns_[wants];
  const std::vector<Wants>* const ends[] = {&rows, &columns};
  PriceGrid grid;
  if (may_move) {
    Result<PriceGrid> made = PriceGrid::make(prices_, tensor, distinct(std::span(ends, 1)),
                                             distinct(std::span(ends + 1, 1)));
    if (!made.ok()) return made.status();
    grid = *std::move(made);
  }
  std::vector<Cost> cells;
  cells.reserve(rows.size() * columns.size());
  for (const Wants& from : rows) {
    for (const Wants& wanted : columns) {
      Cost cost = 0;
      for (const LayoutId to : wanted) {
        if (to != from[0]) cost = add(cost, may_move ? grid.at(from[0], to) : kForbidden);
      }
      cells.push_back(cost);
    }
  }
  return known->second = network_.add_table(static_cast<int>(rows.size()),
                                            static_cast<int>(columns.size()), std::move(cells));
}

namespace {

// What a consumer pays besides the copy.
Cost own_cost(const PriceGrid& grid, const HubValue& at, const Wants& wanted) {
  Cost cost = 0;
  for (const LayoutId to : wanted) {
    if (to == at.source || to == at.copy) continue;
    Cost least = grid.at(at.source, to);
    if (at.copy != kNoLayout) least = std::min(least, grid.at(at.copy, to));
    cost = add(cost, least);
  }
  return cost;
}

}  // namespace

// Of the copies of one source those that can be best: no other copy, nor none, costs less whatever
// the consumers choose. Each consumer loses at most what it loses by the worst of its choices.
std::vector<HubValue> MoveTables::copies_worth_it(const PriceGrid& grid, LayoutId source,
                                                  std::span<const LayoutId> copies,
                                                  std::span<const ColumnId> consumers) const {
  struct Candidate {
    HubValue value;
    Cost cost = 0;
    std::vector<Cost> own;  // of each choice of each consumer
    bool is_kept = true;
  };
  std::vector<Candidate> candidates;
  const auto add_candidate = [&](LayoutId copy, Cost cost) {
    Candidate& candidate = candidates.emplace_back(Candidate{{source, copy}, cost, {}, true});
    for (const ColumnId consumer : consumers) {
      for (const Wants& wanted : columns_[consumer])
        candidate.own.push_back(own_cost(grid, candidate.value, wanted));
    }
  };
  add_candidate(kNoLayout, 0);
  for (const LayoutId copy : copies) {
    if (copy != source && grid.at(source, copy) < kForbidden)
      add_candidate(copy, grid.at(source, copy));
  }
  const auto dominates = [&](const Candidate& better, const Candidate& worse) {
    Cost lost = better.cost - worse.cost;
    auto mine = better.own.begin(), theirs = worse.own.begin();
    for (const ColumnId consumer : consumers) {
      Cost most = -kForbidden;
      for (size_t choice = 0; choice < columns_[consumer].size(); ++choice, ++mine, ++theirs) {
        if (*theirs < kForbidden) most = std::max(most, *mine - *theirs);
      }
      lost = add(lost, most);
    }
    return lost <= 0;
  };
  std::vector<HubValue> values;
  for (Candidate& worse : candidates) {
    worse.is_kept =
        std::none_of(candidates.begin(), candidates.end(), [&](const Candidate& better) {
          return &better != &worse && better.is_kept && dominates(better, worse);
        });
  }
  for (const Candidate& candidate : candidates) {
    if (candidate.is_kept) values.push_back(candidate.value);
  }
  return values;
}

Result<int> MoveTables::hub(const TensorMeta& tensor, ColumnId source,
                            std::span<const ColumnId> consumers) {
  std::vector<int> key{kHub, tensor_id(tensor), source};
  key.insert(key.end(), consumers.begin(), consumers.end());
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const std::vector<LayoutId> sources = layouts_of({&source, 1}), copies = layouts_of(consumers);
  std::vector<ColumnId> ends(consumers.begin(), consumers.end());
  ends.push_back(source);
  const Result<PriceGrid> grid = PriceGrid::make(prices_, tensor, layouts_of(ends), copies);
  if (!grid.ok()) return grid.status();
  Hub made;
  for (const LayoutId from : sources) {
    for (const HubValue& value : copies_worth_it(*grid, from, copies, consumers)) {
      made.values.push_back(value);
      made.costs.push_back(value.copy == kNoLayout ? 0 : grid->at(from, value.copy));
    }
  }
  hubs_.push_back(std::move(made));
  return known_[std::move(key)] = static_cast<int>(hubs_.size()) - 1;
}

int MoveTables::source_to_hub(ColumnId source, int hub) {
  const auto [known, is_new] = known_.try_emplace(std::vector<int>{kSourceToHub, source, hub}, -1);
  if (!is_new) return known->second;
  const std::vector<Wants>& rows = columns_[source];
  const std::vector<HubValue>& columns = hubs_[hub].values;
  std::vector<Cost> cells;
  cells.reserve(rows.size() * columns.size());
  for (const Wants& from : rows) {
    for (const HubValue& value : columns) cells.push_back(value.source == from[0] ? 0 : kForbidden);
  }
  return known->second = network_.add_table(static_cast<int>(rows.size()),
                                            static_cast<int>(columns.size()), std::move(cells));
}

Result<int> MoveTables::hub_to_consumer(const TensorMeta& tensor, int hub, ColumnId wants) {
  const auto [known, is_new] =
      known_.try_emplace(std::vector<int>{kHubToConsumer, tensor_id(tensor), hub, wants}, -1);
  if (!is_new) return known->second;
  const std::vector<HubValue>& rows = hubs_[hub].values;
  const std::vector<Wants>& columns = columns_[wants];
  std::vector<Wants> ends;
  for (const HubValue& value : rows) {
    ends.push_back({value.source});
    if (value.copy != kNoLayout) ends.push_back({value.copy});
  }
  const std::vector<Wants>* const both[] = {&ends, &columns};
  const Result<PriceGrid> grid = PriceGrid::make(prices_, tensor, distinct(std::span(both, 1)),
                                                 distinct(std::span(both + 1, 1)));
  if (!grid.ok()) return grid.status();
  std::vector<Cost> cells;
  cells.reserve(rows.size() * columns.size());
  for (const HubValue& at : rows) {
    for (const Wants& wanted : columns) {
      cells.push_back(own_cost(*grid, at, wanted));
    }
  }
  return known->second = network_.add_table(static_cast<int>(rows.size()),
                                            static_cast<int>(columns.size()), std::move(cells));
}

Result<Cost> MoveTables::price(const TensorMeta& tensor, LayoutId from, LayoutId to) {
  const Result<std::vector<Cost>> cost = prices_.between(tensor, {&from, 1}, {&to, 1});
  if (!cost.ok()) return cost.status();
  return (*cost)[0];
}

Result<LayoutId> MoveTables::nearer(const TensorMeta& tensor, const HubValue& at, LayoutId want) {
  if (at.copy == kNoLayout) return at.source;
  const Result<Cost> from_source = price(tensor, at.source, want);
  if (!from_source.ok()) return from_source.status();
  const Result<Cost> from_copy = price(tensor, at.copy, want);
  if (!from_copy.ok()) return from_copy.status();
  return *from_copy < *from_source ? at.copy : at.source;
}

}  // namespace onedim
