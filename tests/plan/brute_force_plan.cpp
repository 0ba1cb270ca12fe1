#include "tests/plan/brute_force_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/graph/node_strategy.hpp"
#include "core/pack/closed_rules.hpp"
#include "core/redistribute/step_price.hpp"
#include "core/select/equal_layouts.hpp"
#include "core/select/strategy.hpp"

namespace onedim {
namespace {

constexpr int64_t kNone = kImpossible;

std::vector<Dims> orders_of(const Mesh& mesh) {
  Dims order = Layout::replicated(mesh.ndim()).cutting_order();
  std::vector<Dims> orders;
  do orders.push_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

int64_t call_ps(const ResolvedNode& node, const NodeStrategy& strategy, const Mesh& mesh,
                const Roofline& roofline) {
  const std::vector<Layout> current(node.slots.size(), Layout::replicated(mesh.ndim()));
  const SelectSubject subject{*node.op, node.call, node.outputs, current, mesh, Policy::kAny};
  ComputeTime time(subject, roofline);
  std::vector<uint64_t> tags;
  for (const Rule& rule : strategy.rules) tags.push_back(rule.tag);
  int64_t most = 0;
  const Status status = visit_local_calls(subject, strategy.inputs, strategy.outputs, tags,
                                          [&](const LocalCall& local) -> Status {
                                            const Result<int64_t> ps = time.of(local);
                                            if (!ps.ok()) return ps.status();
                                            most = std::max(most, *ps);
                                            return absl::OkStatus();
                                          });
  EXPECT_TRUE(status.ok()) << status;
  return most;
}

// Nothing of a layout that a plan chooses is empty on some rank.
bool is_allowed(const TensorMeta& tensor, const Layout& layout, const Mesh& mesh) {
  return check_policy(tensor, layout, mesh, Policy::kNonempty).ok();
}

struct Choice {
  NodeStrategy strategy;
  int64_t ps = 0;
};

class BruteForce {
 public:
  BruteForce(const ResolvedGraph& resolved, const NamedPlacements& named, Planner& planner,
             const Roofline& roofline)
      : resolved_(resolved),
        graph_(*resolved.graph),
        named_(named),
        planner_(planner),
        mesh_(planner.mesh()),
        roofline_(roofline),
        lies_(graph_.values.size()) {}

  std::optional<int64_t> least() {
    for (int node = 0; node < graph_.node_count(); ++node) choices_.push_back(choices_of(node));
    now_.resize(graph_.nodes.size());
    give(0, 0);
    if (best_ >= kNone) return std::nullopt;
    return best_;
  }

 private:
  std::vector<Choice> choices_of(int node) {
    const ResolvedNode& resolved = resolved_.nodes[node];
    const Result<std::vector<ClosedRule>> closed =
        closed_rules(*resolved.op, resolved.call, resolved.outputs, *resolved_.registry);
    EXPECT_TRUE(closed.ok()) << closed.status();
    std::vector<std::vector<Rule>> products{{}};
    for (int mesh_dim = 0; mesh_dim < mesh_.ndim(); ++mesh_dim) {
      std::vector<std::vector<Rule>> longer;
      for (const std::vector<Rule>& product : products) {
        for (const ClosedRule& rule : *closed) {
          longer.push_back(product);
          longer.back().push_back(rule.rule);
        }
      }
      products = std::move(longer);
    }
    std::vector<Choice> choices;
    for (const Dims& order : orders_of(mesh_)) {
      for (const std::vector<Rule>& rules : products) {
        Result<NodeStrategy> strategy =
            make_node_strategy(resolved, *resolved_.registry, mesh_, rules, order);
        if (!strategy.ok() || !is_allowed(resolved, *strategy)) continue;
        const bool is_known = std::any_of(choices.begin(), choices.end(), [&](const Choice& one) {
          return one.strategy.inputs == strategy->inputs &&
                 one.strategy.outputs == strategy->outputs;
        });
        if (is_known) continue;
        const int64_t ps = call_ps(resolved, *strategy, mesh_, roofline_);
        choices.push_back({*std::move(strategy), ps});
      }
    }
    return choices;
  }

  bool is_allowed(const ResolvedNode& node, const NodeStrategy& strategy) const {
    for (size_t slot = 0; slot < strategy.inputs.size(); ++slot) {
      if (!onedim::is_allowed(*node.call.inputs[slot], strategy.inputs[slot], mesh_)) return false;
    }
    for (size_t slot = 0; slot < strategy.outputs.size(); ++slot) {
      if (!onedim::is_allowed(node.outputs[slot]->meta, strategy.outputs[slot], mesh_))
        return false;
    }
    return true;
  }

  std::vector<Layout> whole_layouts(const TensorMeta& tensor) const {
    std::vector<std::vector<Placement>> products{{}};
    for (int mesh_dim = 0; mesh_dim < mesh_.ndim(); ++mesh_dim) {
      std::vector<std::vector<Placement>> longer;
      for (const std::vector<Placement>& product : products) {
        for (int dim = -1; dim < static_cast<int>(tensor.shape.size()); ++dim) {
          longer.push_back(product);
          longer.back().push_back(dim < 0 ? Placement::replicate() : Placement::shard(dim));
        }
      }
      products = std::move(longer);
    }
    std::vector<Layout> layouts;
    for (const Dims& order : orders_of(mesh_)) {
      for (const std::vector<Placement>& product : products) {
        Layout layout = layout_in_order(product, order);
        const bool is_known = std::find(layouts.begin(), layouts.end(), layout) != layouts.end();
        if (!is_known && onedim::is_allowed(tensor, layout, mesh_))
          layouts.push_back(std::move(layout));
      }
    }
    return layouts;
  }

  int64_t move_ps(ValueId value, const Layout& from, const Layout& to) {
    if (from == to) return 0;
    const auto plan = planner_.plan(graph_.values[value].meta, from, to);
    return plan.ok() ? to_ps((*plan)->cost_us) : kNone;
  }

  void give(ValueId value, int64_t so_far) {
    if (so_far >= best_) return;
    if (value == graph_.value_count()) return choose(0, so_far);
    if (!graph_.values[value].is_given()) return give(value + 1, so_far);
    const std::vector<Layout> layouts = named_.values[value]
                                            ? std::vector<Layout>{*named_.values[value]}
                                            : whole_layouts(graph_.values[value].meta);
    for (const Layout& layout : layouts) {
      lies_[value] = layout;
      give(value + 1, so_far);
    }
  }

  // Values are priced once all their users are known.
  void choose(int node, int64_t so_far) {
    if (so_far >= best_) return;
    if (node == graph_.node_count()) {
      for (ValueId value = 0; value < graph_.value_count() && so_far < best_; ++value)
        so_far += value_ps(value);
      best_ = std::min(best_, so_far);
      return;
    }
    for (const Choice& choice : choices_[node]) {
      now_[node] = &choice;
      for (size_t slot = 0; slot < choice.strategy.outputs.size(); ++slot)
        lies_[graph_.nodes[node].outputs[slot]] = choice.strategy.outputs[slot];
      choose(node + 1, so_far + choice.ps);
    }
  }

  int64_t value_ps(ValueId value) {
    int64_t ps = 0;
    for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
      std::vector<std::set<std::string>> consumers;
      for (int node = 0; node < graph_.node_count(); ++node) {
        if (graph_.nodes[node].phase != phase) continue;
        std::set<std::string> wants;
        for (size_t slot = 0; slot < resolved_.nodes[node].slots.size(); ++slot) {
          if (resolved_.nodes[node].slots[slot] == value)
            wants.insert(note(now_[node]->strategy.inputs[slot]));
        }
        if (!wants.empty()) consumers.push_back(std::move(wants));
      }
      if (phase == graph_.nodes.back().phase) {
        for (const Gradient& pair : graph_.gradients) {
          if (pair.gradient == value) consumers.push_back({note(lies_[pair.param])});
        }
      }
      ps = std::min(kNone, ps + group_ps(value, consumers, phase == graph_.nodes.back().phase));
    }
    return ps;
  }

  std::string note(const Layout& layout) {
    std::string text = format_layout(layout, mesh_);
    by_text_[text] = layout;
    return text;
  }

  bool is_free_output(ValueId value) const {
    const bool is_gradient =
        std::any_of(graph_.gradients.begin(), graph_.gradients.end(),
                    [&](const Gradient& pair) { return pair.gradient == value; });
    return !is_gradient && std::count(graph_.outputs.begin(), graph_.outputs.end(), value) > 0;
  }

  // The best of no copy and every copy that someone could use.
  int64_t group_ps(ValueId value, std::vector<std::set<std::string>> consumers, bool is_last) {
    const bool is_partial =
        std::any_of(lies_[value].placements.begin(), lies_[value].placements.end(),
                    [](const Placement& placement) { return placement.is_partial(); });
    if (is_last && is_partial && is_free_output(value)) {
      int64_t least = kNone;
      for (const Layout& layout : whole_layouts(graph_.values[value].meta)) {
        std::vector<std::set<std::string>> more = consumers;
        more.push_back({note(layout)});
        least = std::min(least, copies_ps(value, more));
      }
      return least;
    }
    return copies_ps(value, consumers);
  }

  int64_t copies_ps(ValueId value, const std::vector<std::set<std::string>>& consumers) {
    int64_t least = own_ps(value, consumers, nullptr);
    std::set<std::string> all;
    for (const std::set<std::string>& wants : consumers) all.insert(wants.begin(), wants.end());
    for (const std::string& text : all) {
      const Layout& copy = by_text_[text];
      const int64_t ps = move_ps(value, lies_[value], copy);
      if (ps < least) least = std::min(least, ps + own_ps(value, consumers, &copy));
    }
    return least;
  }

  int64_t own_ps(ValueId value, const std::vector<std::set<std::string>>& consumers,
                 const Layout* copy) {
    int64_t ps = 0;
    for (const std::set<std::string>& wants : consumers) {
      for (const std::string& text : wants) {
        const Layout& want = by_text_[text];
        int64_t least = move_ps(value, lies_[value], want);
        if (copy != nullptr) least = std::min(least, move_ps(value, *copy, want));
        ps = std::min(kNone, ps + least);
      }
    }
    return ps;
  }

  const ResolvedGraph& resolved_;
  const Graph& graph_;
  const NamedPlacements& named_;
  Planner& planner_;
  const Mesh& mesh_;
  const Roofline& roofline_;
  std::vector<Layout> lies_;  // per value
  std::vector<std::vector<Choice>> choices_;
  std::vector<const Choice*> now_;
  std::map<std::string, Layout> by_text_;
  int64_t best_ = kNone;
};

}  // namespace

std::optional<int64_t> least_plan_ps(const ResolvedGraph& resolved, const NamedPlacements& named,
                                     Planner& planner, const Roofline& roofline) {
  return BruteForce(resolved, named, planner, roofline).least();
}

int64_t solution_ps(const ResolvedGraph& resolved, const Solution& solution,
                    const Roofline& roofline) {
  int64_t ps = 0;
  for (size_t node = 0; node < resolved.nodes.size(); ++node)
    ps += call_ps(resolved.nodes[node], solution.nodes[node], solution.mesh, roofline);
  for (const ValueMove& move : solution.moves) ps += to_ps(move.plan->cost_us);
  return ps;
}

}  // namespace onedim
