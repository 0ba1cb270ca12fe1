#pragma once
// MoveTables: the tables of a cost network that price moves, each made once for all edges that have
// the same tensor and the same layouts at their ends.
//
// A column has the layout in which a source lies, or the layouts that a consumer wants (several
// where it takes the value in several slots), per value of its variable. A hub stands for the one
// copy that the consumers of a group may share: its values are pairs of where the source lies and
// how the copy lies (kNoLayout: there is none), and it costs the move from one to the other. What a
// consumer wants it finds at the source or in the copy, or it is moved for this consumer alone,
// from whichever is nearer. Not thread-safe.

#include "core/plan/move_prices.hpp"

namespace onedim {

using Wants = absl::InlinedVector<LayoutId, 2>;  // each once, ascending
using ColumnId = int;

struct HubValue {
  LayoutId source = kNoLayout;
  LayoutId copy = kNoLayout;
  bool operator==(const HubValue&) const = default;
};

struct Hub {
  std::vector<HubValue> values;
  std::vector<Cost> costs;
};

class PriceGrid;

class MoveTables {
 public:
  // All are borrowed; tables go into `network`.
  MoveTables(MovePrices& prices, CostNetwork& network) : prices_(prices), network_(network) {}

  ColumnId add_column(std::vector<Wants> column);
  const std::vector<Wants>& column(ColumnId id) const { return columns_[id]; }

  // The layouts that stand in the columns, each once.
  std::vector<LayoutId> layouts_of(std::span<const ColumnId> columns) const;

  // From where a tensor lies to what a consumer wants. A tensor that may not move has no price but
  // 0 where everything lies as it is wanted.
  Result<int> direct(const TensorMeta& tensor, ColumnId source, ColumnId wants, bool may_move);

  // The number of the hub of a source and the consumers of a group, ascending, without
  // values that others of the same source beat whatever the consumers choose.
  Result<int> hub(const TensorMeta& tensor, ColumnId source, std::span<const ColumnId> consumers);
  const Hub& hub(int number) const { return hubs_[number]; }
  // Rows are the source's values, columns the hub's.
  int source_to_hub(ColumnId source, int hub);
  // Rows are the hub's values.
  Result<int> hub_to_consumer(const TensorMeta& tensor, int hub, ColumnId wants);

  // Where a move of one layout for one consumer starts.
  Result<LayoutId> nearer(const TensorMeta& tensor, const HubValue& at, LayoutId want);
  Result<Cost> price(const TensorMeta& tensor, LayoutId from, LayoutId to);

 private:
  int tensor_id(const TensorMeta& tensor);
  std::vector<HubValue> copies_worth_it(const PriceGrid& grid, LayoutId source,
                                        std::span<const LayoutId> copies,
                                        std::span<const ColumnId> consumers) const;

  MovePrices& prices_;
  CostNetwork& network_;
  std::vector<std::vector<Wants>> columns_;
  absl::flat_hash_map<std::vector<Wants>, ColumnId> column_ids_;
  absl::flat_hash_map<std::pair<int, Dims>, int> tensor_ids_;  // by dtype and shape
  std::vector<Hub> hubs_;
  absl::flat_hash_map<std::vector<int>, int> known_;  // tables and hubs, by all that they are of
};

}  // namespace onedim
