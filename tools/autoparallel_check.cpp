#include "tools/autoparallel_check.hpp"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/graph/node_strategy.hpp"
#include "core/pack/foreign_call.hpp"
#include "core/select/key_writer.hpp"

namespace onedim {
namespace {

// Everything that decides whether the layouts are a strategy of the node.
MemoKey placed_key(const ResolvedNode& node, const AutoParallelNode& placed) {
  MemoKey key;
  {
    KeyWriter writer(key);
    writer.add(std::bit_cast<uint64_t>(node.op));
    for (const auto& [name, value] : node.call.attributes) {
      writer.add(name);
      writer.add(value);
    }
    for (const SlotRange& range : node.call.arguments)
      writer.add(static_cast<uint64_t>(range.first + 1) << 32 | static_cast<uint64_t>(range.count));
    for (size_t slot = 0; slot < node.slots.size(); ++slot) {
      const OptionalMeta& input = node.call.inputs[slot];
      writer.add(uint64_t{input.has_value()});
      if (!input) continue;
      writer.add(*input);
      writer.add(placed.inputs[slot].to);
    }
    for (size_t slot = 0; slot < node.outputs.size(); ++slot) {
      writer.add(uint64_t{node.outputs[slot].has_value()});
      if (node.outputs[slot]) writer.add(placed.outputs[slot]);
    }
  }
  return key;
}

std::vector<StrategyException> find_exceptions(const ResolvedGraph& resolved,
                                               const AutoParallelSolution& solution) {
  std::vector<StrategyException> exceptions;
  absl::flat_hash_map<MemoKey, Status> known;
  for (size_t i = 0; i < resolved.nodes.size(); ++i) {
    const ResolvedNode& node = resolved.nodes[i];
    const AutoParallelNode& placed = solution.nodes[i];
    const auto [found, is_new] = known.try_emplace(placed_key(node, placed));
    if (is_new) {
      const ForeignCall running(*node.op, "a placement");
      found->second = find_node_strategy(node, *resolved.registry, solution.mesh,
                                         placed.input_layouts(), placed.outputs, Policy::kFits)
                          .status();
    }
    if (!found->second.ok())
      exceptions.push_back({static_cast<int>(i), std::string(message_of(found->second))});
  }
  return exceptions;
}

class Comparison {
 public:
  explicit Comparison(AutoParallelCheck& check) : check_(check) {}

  // Whether they agree; a price that the file does not have does.
  bool agrees(double our_us, const std::optional<double>& file_us) {
    if (!file_us) return true;
    ++check_.compared;
    const double larger = std::max(std::abs(our_us), std::abs(*file_us));
    const double apart = our_us == *file_us ? 0 : std::abs(our_us - *file_us) / larger;
    check_.most_difference = std::max(check_.most_difference, std::isnan(apart) ? 1 : apart);
    return apart <= kSamePrice;
  }

 private:
  AutoParallelCheck& check_;
};

}  // namespace

AutoParallelCheck check_autoparallel(const ResolvedGraph& resolved,
                                     const AutoParallelSolution& solution,
                                     const AutoParallelPriced& priced) {
  AutoParallelCheck check;
  check.exceptions = find_exceptions(resolved, solution);
  Comparison comparison(check);
  for (size_t i = 0; i < solution.nodes.size(); ++i) {
    const AutoParallelNode& placed = solution.nodes[i];
    const int node = static_cast<int>(i);
    if (!comparison.agrees(priced.node_us[i], placed.compute_us))
      check.differences.push_back({node, -1, priced.node_us[i], *placed.compute_us});
    for (size_t slot = 0; slot < placed.inputs.size(); ++slot) {
      const std::optional<double>& file_us = placed.inputs[slot].us;
      const double our_us = priced.edge_us[i][slot];
      if (std::isinf(our_us)) {
        check.exceptions.push_back(
            {node, fmt::format("input {}: AutoParallel has no move from {} to {}", slot,
                               format_layout(placed.inputs[slot].from, solution.mesh),
                               format_layout(placed.inputs[slot].to, solution.mesh))});
      }
      if (!comparison.agrees(our_us, file_us))
        check.differences.push_back({node, static_cast<int>(slot), our_us, *file_us});
    }
  }
  check.sums_differ = !comparison.agrees(priced.communication_us, solution.communication_us);
  check.sums_differ |= !comparison.agrees(priced.compute_us, solution.compute_us);
  return check;
}

}  // namespace onedim
