#pragma once
// PlanNetwork: a graph on a mesh as a cost network. Variables are, in this order: what is given
// (its layouts), nodes (their strategies), outputs of the graph that may lie in several ways, and
// the copies that groups of consumers share. What a solution of it costs is what the executor
// is predicted to take: local calls, settling of partials of packs, and moves.
//
// The consumers of a value in one phase are a group: a copy is not held from forward to backward.
// An output of the graph is one more consumer, in the phase of the last node; that of a gradient is
// its parameter, which it must lie as. A value that a line places is brought there behind its node,
// and all consumers take it from there. What shares storage with a tensor that a node writes does
// not move.

#include "core/graph/placement_lines.hpp"
#include "core/plan/move_tables.hpp"
#include "core/plan/strategy_table.hpp"

namespace onedim {

struct PlanConsumer {
  static constexpr int kOutput = -1;
  int node = kOutput;
  int variable = 0;
  ColumnId wants = 0;
};

// Where two layouts are wanted in all, the variable of the copy has layouts alone, that of the
// source among them, and all take the value from there: what only one wants may as well be moved
// for it alone. Where more are, one consumer may stay at the source while others share: that takes
// a hub.
struct ConsumerGroup {
  std::vector<PlanConsumer> consumers;
  int copy_variable = -1;  // -1: one layout is wanted, or what may not move
  ColumnId copy = -1;      // of two layouts
  int hub = -1;            // of more
};

// A tensor of the graph.
struct PlannedValue {
  int variable = -1;            // whose value says how it lies: its own or its node's
  ColumnId made = 0;            // how it lies as made, once settled
  ColumnId source = 0;          // where consumers take it from: the same, or where it is placed
  LayoutId placed = kNoLayout;  // by a line, where a node makes it
  bool may_move = true;
  std::vector<ConsumerGroup> groups;  // by phase; without consumers none
};

struct PlanNetwork {
  CostNetwork network;
  LayoutPool layouts;
  std::vector<PlannedValue> values;          // per value
  std::vector<const StrategyTable*> tables;  // per node
  int first_node = 0;                        // variable
};

struct NetworkOptions {
  SelectOptions select;
  std::optional<int64_t> parameter_bytes;  // that a rank may hold
};

// Holds what a PlanNetwork refers to.
class NetworkBuilder {
 public:
  // All are borrowed.
  NetworkBuilder(const ResolvedGraph& resolved, const NamedPlacements& named, Planner& planner,
                 const Roofline& roofline, const NetworkOptions& options);

  // Once. Errors name the node or the value.
  Status build();
  const PlanNetwork& result() const { return result_; }
  MoveTables& moves() { return moves_; }
  size_t table_count() const { return tables_.size(); }

 private:
  void note_written();
  Status add_given(ValueId value);
  Status add_node(int node);
  Status place_output(int node, size_t slot);
  void add_consumers(int node);
  Status add_outputs();
  Status add_output(ValueId value);
  Status connect(ValueId value);
  Status connect_group(ValueId value, ConsumerGroup& group);
  Status connect_directly(ValueId value, const ConsumerGroup& group);
  Status connect_pair(ValueId value, ConsumerGroup& group);
  Status connect_many(ValueId value, ConsumerGroup& group);
  void add_edge(int from, int to, int table);
  void add_consumer(ValueId value, Phase phase, PlanConsumer consumer);
  Result<std::vector<LayoutId>> free_layouts(const TensorMeta& tensor);
  int64_t local_bytes(const TensorMeta& tensor, LayoutId layout) const;
  LayoutId intern(const Layout& layout, const TensorMeta& tensor);

  const ResolvedGraph& resolved_;
  const Graph& graph_;
  const NamedPlacements& named_;
  const Mesh& mesh_;
  NetworkOptions options_;
  PlanNetwork result_;
  StrategyTables tables_;
  MovePrices prices_;
  MoveTables moves_;
  std::vector<Dims> orders_;
  std::vector<PlacementSet> natural_;         // per value
  std::vector<std::vector<LayoutId>> given_;  // per value: layouts that it may have
  absl::flat_hash_map<std::pair<int, Dims>, std::vector<LayoutId>> free_;  // by dtype and shape
};

}  // namespace onedim
