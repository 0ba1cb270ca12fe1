#pragma once
// BrutePlanner: the truth for the planner: all layouts are listed, all pairs tried as single steps
// by the table of core/redistribute/step_kind.hpp, sizes and moved elements counted rank by rank
// from index maps, and costs found by Bellman-Ford. It shares no code with core/redistribute.

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/cost/cost_model.hpp"
#include "core/layout/index_map.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

struct BruteRules {
  bool even = false;  // the policy
  bool nonempty = true;
  bool shard_to_partial = false;
  int64_t memory_bytes = INT64_MAX;
  // Which tensor dims may be outermost in memory: a layout comes once for each, in this order.
  std::vector<int> outermosts = {0};
};

class BrutePlanner {
 public:
  // All layouts over R, S, P of `kinds`, and the strided shards that `given` layouts have, each on
  // the mesh dims where it stands. Mesh dims of size 1 are R.
  BrutePlanner(const CostModel& model, TensorMeta meta, std::vector<std::string> kinds,
               std::vector<Layout> given, BruteRules rules);

  const std::vector<Layout>& layouts() const { return layouts_; }
  int find(const Layout& layout) const;
  // Whether the policy allows layout i.
  bool is_allowed(int i) const { return states_[i].is_allowed; }
  int64_t order_count() const { return static_cast<int64_t>(rules_.outermosts.size()); }
  int order_of(int outermost) const {
    return static_cast<int>(
        std::find(rules_.outermosts.begin(), rules_.outermosts.end(), outermost) -
        rules_.outermosts.begin());
  }
  // Least cost in us from layout `source` to each; infinity where there is no way. With several
  // memory orders layouts are numbered layout * orders + order here.
  std::vector<double> costs_from(int source) const;
  // The single step between two layouts that lie in memory as said, or nothing.
  std::optional<double> step_us(int from, int to, int from_outermost = 0,
                                int to_outermost = 0) const;

 private:
  using Indices = std::vector<int64_t>;
  struct State {
    std::vector<std::vector<Indices>> owned;  // per rank and tensor dim
    std::vector<std::vector<int>> cutters;    // per tensor dim, mesh dims in order
    int64_t bytes = 0;
    bool is_allowed = true;
  };
  struct Change {
    std::set<int> left;     // mesh dims that cut in the first layout behind the common cuts
    std::set<int> joined;   // the same in the second
    std::set<int> partial;  // whose partial comes, goes or changes
  };

  // Memory orders of one step.
  struct Memory {
    int from = 0;
    int to = 0;
    bool keeps = true;  // both are the same for these lengths
  };

  void list_layouts(const std::vector<Layout>& given);
  void add_orders(Layout layout, int tensor_dim);
  State measure(const Layout& layout) const;
  Change change(int from, int to) const;
  bool differs_in_group(const State& state, const std::set<int>& dims) const;
  bool is_flat(const State& state, const std::set<int>& tensor_dims, int outermost) const;
  std::vector<int> long_dims(const State& a, const State& b, int outermost) const;
  bool is_plain(int layout, const std::set<int>& dims) const;
  bool is_ascending(const State& state, const std::set<int>& dims) const;
  std::set<int> cut_dims(int layout, const std::set<int>& dims) const;
  int64_t most_missing(const State& from, const State& to) const;
  double us(Collective collective, const std::set<int>& dims, int64_t bytes) const;
  double copy(int64_t bytes) const { return bytes == 0 ? 0 : model_.copy_us(bytes); }
  int64_t rank_count(const std::set<int>& dims) const;
  std::optional<double> capped(double us, int64_t memory) const;
  std::optional<double> partial_step(int from, int to, const Change& change,
                                     const Memory& memory) const;
  std::optional<double> gather(int from, int to, const std::set<int>& dims,
                               const Memory& memory) const;
  std::optional<double> exchange(int from, int to, const std::set<int>& dims,
                                 const Memory& memory) const;
  std::optional<double> cut(int from, int to, const Change& change, const Memory& memory) const;

  const CostModel& model_;
  const Mesh& mesh_;
  TensorMeta meta_;
  std::vector<std::string> kinds_;
  BruteRules rules_;
  std::vector<Layout> layouts_;
  std::vector<State> states_;
  std::vector<std::vector<std::pair<int, double>>> steps_;
};

}  // namespace onedim
