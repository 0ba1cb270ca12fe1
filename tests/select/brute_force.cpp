#include "brute_force.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/pack/variant.hpp"

namespace onedim {
namespace {

std::vector<Dims> orders_at_hand(const SelectRequest& request, int mesh_ndim) {
  std::vector<Dims> orders{Layout::replicated(mesh_ndim).cutting_order()};
  const auto add = [&](const Layout& layout) {
    const Dims order = layout.cutting_order();
    if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(order);
  };
  for (size_t slot = 0; slot < request.inputs.size(); ++slot) {
    if (request.call->inputs[slot]) add(request.inputs[slot]);
  }
  for (const Layout* layout : request.required_outputs) {
    if (layout != nullptr) add(*layout);
  }
  return orders;
}

// The next combination of rules, the last mesh dim in cutting order fastest; false after the last.
bool advance(Strategy& strategy, int rule_count) {
  for (size_t i = strategy.order.size(); i > 0; --i) {
    int& rule = strategy.rules[strategy.order[i - 1]];
    if (++rule < rule_count) return true;
    rule = 0;
  }
  return false;
}

struct Layouts {
  std::vector<Layout> inputs;
  std::vector<Layout> outputs;
  std::vector<uint64_t> tags;
};

Layouts layouts_of(const SelectRequest& request, std::span<const OptionalOutput> outputs,
                   const RuleChoices& choices, const Strategy& strategy, const Mesh& mesh) {
  Layouts layouts{
      std::vector<Layout>(request.inputs.size()), std::vector<Layout>(outputs.size()), {}};
  for (size_t slot = 0; slot < layouts.inputs.size(); ++slot) {
    if (request.call->inputs[slot])
      layouts.inputs[slot] = input_layout(choices, strategy, slot, mesh);
  }
  for (size_t slot = 0; slot < layouts.outputs.size(); ++slot) {
    if (outputs[slot]) layouts.outputs[slot] = output_layout(choices, strategy, slot, mesh);
  }
  for (const int rule : strategy.rules) layouts.tags.push_back(choices.rules()[rule].rule.tag);
  return layouts;
}

// Adds what the moves cost; false where one cannot be made.
bool add_moves(const SelectRequest& request, const Layouts& layouts, Planner& planner,
               BruteForceBest& now) {
  const PlanOptions options{request.options.policy, request.options.memory_bytes,
                            request.options.allow_shard_to_partial};
  std::vector<int> written;
  if (request.op->plain != nullptr) written = written_slots(*request.op, *request.call);
  for (size_t slot = 0; slot < layouts.inputs.size(); ++slot) {
    if (!request.call->inputs[slot]) continue;
    const Layout& to = layouts.inputs[slot];
    if (to == without_unit_mesh_dims(request.inputs[slot], planner.mesh())) continue;
    const bool is_written = std::find(written.begin(), written.end(), slot) != written.end();
    if (is_written || request.options.forbid_moves) return false;
    const auto plan = planner.plan(*request.call->inputs[slot], request.inputs[slot], to, options);
    if (!plan.ok()) return false;
    now.ps += std::llround((*plan)->cost_us * 1e6);
    now.collectives += (*plan)->collective_count;
    now.bytes += (*plan)->bytes;
    now.moved += 1;
  }
  return true;
}

bool gives_what_is_required(const SelectRequest& request, const Layouts& layouts,
                            const Mesh& mesh) {
  for (size_t slot = 0; slot < request.required_outputs.size(); ++slot) {
    const Layout* required = request.required_outputs[slot];
    if (required != nullptr && layouts.outputs[slot] != without_unit_mesh_dims(*required, mesh))
      return false;
  }
  return true;
}

}  // namespace

std::optional<BruteForceBest> brute_force(const SelectRequest& request,
                                          std::span<const OptionalOutput> outputs,
                                          const Registry& registry, Planner& planner) {
  const Mesh& mesh = planner.mesh();
  std::vector<const Layout*> present;
  for (size_t slot = 0; slot < request.inputs.size(); ++slot) {
    if (request.call->inputs[slot]) present.push_back(&request.inputs[slot]);
  }
  for (const Layout* layout : request.required_outputs) {
    if (layout != nullptr) present.push_back(layout);
  }
  const Result<RuleChoices> choices = RuleChoices::create(
      *request.op, *request.call, outputs, registry, present, request.options.exact_rules);
  if (!choices.ok() || choices->rules().empty()) return std::nullopt;
  std::vector<Layout> current(request.inputs.begin(), request.inputs.end());
  for (size_t slot = 0; slot < current.size(); ++slot) {
    if (request.call->inputs[slot]) current[slot] = without_unit_mesh_dims(current[slot], mesh);
  }
  const SelectSubject subject{*request.op, *request.call, outputs,
                              current,     mesh,          request.options.policy};
  std::optional<BruteForceBest> best;
  int64_t tried = 0;
  for (const Dims& order : orders_at_hand(request, mesh.ndim())) {
    BruteForceBest now;
    now.strategy.order = order;
    now.strategy.rules.assign(mesh.ndim(), 0);
    do {
      ++tried;
      now.ps = now.collectives = now.bytes = now.moved = 0;
      if (!check_strategy(subject, *choices, now.strategy).ok()) continue;
      const Layouts layouts = layouts_of(request, outputs, *choices, now.strategy, mesh);
      if (!gives_what_is_required(request, layouts, mesh)) continue;
      if (!add_moves(request, layouts, planner, now)) continue;
      const auto key = [](const BruteForceBest& b) {
        return std::tuple(b.ps, b.collectives, b.bytes, b.moved);
      };
      if (best && key(now) >= key(*best)) continue;
      if (!check_local_calls(subject, layouts.inputs, layouts.outputs, layouts.tags).ok()) continue;
      best = now;
    } while (advance(now.strategy, static_cast<int>(choices->rules().size())));
  }
  if (best) best->tried = tried;
  return best;
}

}  // namespace onedim
