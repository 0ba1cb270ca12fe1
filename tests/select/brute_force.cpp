#include "brute_force.hpp"

#include <algorithm>
#include <cmath>

#include "core/layout/index_map.hpp"
#include "core/pack/local_call.hpp"
#include "core/pack/variant.hpp"

namespace onedim {
namespace {

// Of `current` and the required outputs, as they count.
std::vector<Dims> orders_at_hand(const SelectRequest& request, std::span<const Layout> current,
                                 std::span<const OptionalOutput> outputs, const Mesh& mesh) {
  std::vector<Dims> orders{Layout::replicated(mesh.ndim()).cutting_order()};
  const auto add = [&](const Layout& layout) {
    const Dims order = layout.cutting_order();
    if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(order);
  };
  for (size_t slot = 0; slot < request.inputs.size(); ++slot) {
    if (request.call->inputs[slot]) add(current[slot]);
  }
  for (size_t slot = 0; slot < request.required_outputs.size(); ++slot) {
    if (request.required_outputs[slot] != nullptr && outputs[slot])
      add(without_unit_dims(*request.required_outputs[slot], mesh, outputs[slot]->meta.shape));
  }
  return orders;
}

// A view's rule may cut one side in a strided way, the other plainly; then all orders count.
bool mixes_shards(const Rule& rule) {
  const std::string text = format_rule(rule);
  return text.find("SS(") != std::string::npos &&
         (text.rfind("S(", 0) == 0 || text.find(" S(") != std::string::npos);
}

void add_all_orders(const RuleChoices& choices, const Mesh& mesh, std::vector<Dims>& orders) {
  int cutting = 0;
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) cutting += mesh.size(mesh_dim) > 1;
  const auto& rules = choices.rules();
  if (cutting > 4 || std::none_of(rules.begin(), rules.end(),
                                  [](const RuleChoice& c) { return mixes_shards(c.rule); }))
    return;
  Dims order = Layout::replicated(mesh.ndim()).cutting_order();
  const Dims plain = order;
  std::sort(order.begin(), order.end());
  do {
    bool stays = true;  // mesh dims of one rank do
    for (size_t i = 0; i < order.size(); ++i)
      stays &= mesh.size(static_cast<int>(plain[i])) > 1 || order[i] == plain[i];
    if (stays && std::find(orders.begin(), orders.end(), order) == orders.end())
      orders.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
}

// Whether every rank owns the same under both, rank by rank; partials are told apart by their kind.
bool is_same_value(const Dims& shape, const Layout& a, const Layout& b, const Mesh& mesh) {
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    const Placement &one = a.placements[mesh_dim], &other = b.placements[mesh_dim];
    if ((one.is_partial() || other.is_partial()) && one != other) return false;
  }
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims coordinate = mesh.coordinate_of(rank);
    if (!(index_map(shape, a, mesh, coordinate) == index_map(shape, b, mesh, coordinate)))
      return false;
  }
  return true;
}

int64_t power(int64_t base, int exponent) {
  int64_t result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

}  // namespace

BruteForce::BruteForce(const Op& op, const Call& call, std::span<const OptionalOutput> outputs,
                       const RuleChoices& choices, Planner& planner, const ClusterCompute& compute)
    : op_(op),
      call_(call),
      outputs_(outputs),
      choices_(choices),
      planner_(planner),
      compute_(compute) {
  if (op.plain != nullptr) written_ = written_slots(op, call);
}

std::optional<BruteForceBest> BruteForce::best(const SelectRequest& request) {
  const Mesh& mesh = planner_.mesh();
  std::optional<BruteForceBest> best;
  if (choices_.rules().empty()) return best;
  current_.assign(request.inputs.begin(), request.inputs.end());
  for (size_t slot = 0; slot < current_.size(); ++slot) {
    if (call_.inputs[slot])
      current_[slot] = without_unit_dims(current_[slot], mesh, call_.inputs[slot]->shape);
  }
  std::vector<Dims> orders = orders_at_hand(request, current_, outputs_, mesh);
  add_all_orders(choices_, mesh, orders);
  for (const Dims& order : orders) try_order(order_of(order), request, best);
  return best;
}

// Its moves forgotten.
BruteForce::Order& BruteForce::order_of(const Dims& order) {
  const int ndim = planner_.mesh().ndim();
  auto found = std::find_if(orders_.begin(), orders_.end(),
                            [&](const Order& known) { return known.order == order; });
  if (found == orders_.end()) {
    found = orders_.insert(found, {order, {}, {}});
    found->calls.resize(power(static_cast<int64_t>(choices_.rules().size()), ndim));
  }
  found->moves.clear();
  for (size_t slot = 0; slot < call_.inputs.size(); ++slot) {
    const auto count = static_cast<int64_t>(choices_.placements(slot).size());
    found->moves.emplace_back(call_.inputs[slot] ? power(count, ndim) : 0);
  }
  return *found;
}

bool BruteForce::next(const Order& order, Strategy& strategy) const {
  for (size_t i = order.order.size(); i > 0; --i) {
    int& rule = strategy.rules[order.order[i - 1]];
    if (++rule < static_cast<int>(choices_.rules().size())) return true;
    rule = 0;
  }
  return false;
}

void BruteForce::try_order(Order& order, const SelectRequest& request,
                           std::optional<BruteForceBest>& best) {
  const SelectSubject subject{op_,      call_,           outputs_,
                              current_, planner_.mesh(), request.options.policy};
  Strategy strategy;
  strategy.order = order.order;
  strategy.rules.assign(order.order.size(), 0);
  size_t number = 0;
  do {
    LocalCalls& calls = order.calls[number++];
    ++tried_;
    BruteForceCost cost;
    if (!check_strategy(subject, choices_, strategy).ok()) continue;
    if (!gives_what_is_required(request, strategy)) continue;
    if (!add_moves(request, order, strategy, best ? &best->cost : nullptr, cost)) continue;
    if (!calls.is_known) calls = run_locally(strategy);
    if (!calls.run) continue;
    const int64_t compute_ps = request.options.with_compute ? calls.compute_ps : 0;
    cost.ps += compute_ps;
    if (!best || cost < best->cost) best = {strategy, cost, compute_ps};
  } while (next(order, strategy));
}

bool BruteForce::add_moves(const SelectRequest& request, Order& order, const Strategy& strategy,
                           const BruteForceCost* most, BruteForceCost& now) {
  for (size_t slot = 0; slot < call_.inputs.size(); ++slot) {
    if (!call_.inputs[slot]) continue;
    size_t number = 0;
    for (const int rule : strategy.rules)
      number = number * choices_.placements(slot).size() + choices_.rules()[rule].symbols[slot];
    Move& move = order.moves[slot][number];
    if (!move.is_known)
      move = {true,
              plan_move(request, slot, input_layout(choices_, strategy, slot, planner_.mesh()))};
    if (!move.cost) return false;
    now.ps += move.cost->ps;
    now.collectives += move.cost->collectives;
    now.bytes += move.cost->bytes;
    now.moved += move.cost->moved;
    now.steps += move.cost->steps;
    if (most != nullptr && now >= *most) return false;
  }
  return true;
}

std::optional<BruteForceCost> BruteForce::plan_move(const SelectRequest& request, size_t slot,
                                                    const Layout& to) {
  const int outermost = request.outermosts.empty() ? 0 : request.outermosts[slot];
  std::vector<TensorMeta> moved{*call_.inputs[slot]};
  if (!request.states.empty() && !request.states[slot].empty()) moved = request.states[slot];
  PlanOptions options{Policy::kAny};
  options.from_outermost = outermost;
  Layout whole = current_[slot];  // cut alike; one tensor of a partial group has no plan of its own
  for (Placement& placement : whole.placements)
    if (placement.is_partial()) placement = Placement::replicate();
  const bool is_row_major =
      (**planner_.plan({&*call_.inputs[slot], 1}, whole, whole, options)).steps.empty();
  if (to == current_[slot] && is_row_major) return BruteForceCost{};
  const bool is_written = std::find(written_.begin(), written_.end(), slot) != written_.end();
  if (is_written || request.options.forbid_moves) {
    const bool is_named_anew = is_row_major && is_same_value(call_.inputs[slot]->shape,
                                                             current_[slot], to, planner_.mesh());
    return is_named_anew ? std::optional(BruteForceCost{0, 0, 0, 1, 1}) : std::nullopt;
  }
  options.policy = request.options.policy;
  options.memory_bytes = request.options.memory_bytes;
  options.allow_shard_to_partial = request.options.allow_shard_to_partial;
  if (is_row_major) options.from_outermost = 0;
  const auto plan = planner_.plan(moved, current_[slot], to, options);
  if (!plan.ok()) return std::nullopt;
  return BruteForceCost{std::llround((*plan)->cost_us * 1e6), (*plan)->collective_count,
                        (*plan)->bytes, 1, static_cast<int64_t>((*plan)->steps.size())};
}

bool BruteForce::gives_what_is_required(const SelectRequest& request,
                                        const Strategy& strategy) const {
  const Mesh& mesh = planner_.mesh();
  for (size_t slot = 0; slot < request.required_outputs.size(); ++slot) {
    const Layout* required = request.required_outputs[slot];
    if (required == nullptr || !outputs_[slot]) continue;
    const Dims& shape = outputs_[slot]->meta.shape;
    if (!is_same_value(shape, output_layout(choices_, strategy, slot, mesh),
                       without_unit_dims(*required, mesh, shape), mesh))
      return false;
  }
  return true;
}

BruteForce::LocalCalls BruteForce::run_locally(const Strategy& strategy) const {
  LocalCalls calls{true, true, 0};
  const Mesh& mesh = planner_.mesh();
  for (int64_t rank = 0; rank < mesh.rank_count() && calls.run; ++rank) {
    const std::optional<int64_t> ps = local_ps(strategy, mesh.coordinate_of(rank));
    calls.run = ps.has_value();
    calls.compute_ps = std::max(calls.compute_ps, ps.value_or(0));
  }
  return calls;
}

// Nothing where this rank's call may not run.
std::optional<int64_t> BruteForce::local_ps(const Strategy& strategy,
                                            const Dims& coordinate) const {
  const Mesh& mesh = planner_.mesh();
  std::vector<Layout> inputs(call_.inputs.size()), outputs(outputs_.size());
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    if (call_.inputs[slot]) inputs[slot] = input_layout(choices_, strategy, slot, mesh);
  }
  for (size_t slot = 0; slot < outputs.size(); ++slot) {
    if (outputs_[slot]) outputs[slot] = output_layout(choices_, strategy, slot, mesh);
  }
  std::vector<uint64_t> tags;
  for (const int rule : strategy.rules) tags.push_back(choices_.rules()[rule].rule.tag);
  const Result<LocalCall> local =
      make_local_call(op_, call_, outputs_, inputs, outputs, mesh, coordinate, tags);
  if (!local.ok() || !local->matches_layouts) return std::nullopt;
  return price(*local);
}

// The roofline anew: bytes are those of tensors that are read, and of those that are written.
int64_t BruteForce::price(const LocalCall& local) const {
  const Call& call = local.call;
  const std::span<const OptionalOutput> outputs = local.outputs;
  const auto is_read = [&](size_t slot) {
    return op_.variant != Variant::kOut ||
           std::find(written_.begin(), written_.end(), slot) == written_.end();
  };
  double flops = 0, bytes = 0;
  const TensorMeta* first = nullptr;
  for (size_t slot = 0; slot < call.inputs.size(); ++slot) {
    if (!call.inputs[slot] || !is_read(slot)) continue;
    bytes += static_cast<double>(call.inputs[slot]->bytes());
    if (first == nullptr) first = &*call.inputs[slot];
  }
  size_t views = 0;
  for (size_t slot = 0; slot < outputs.size(); ++slot) {
    const bool is_view =
        op_.plain == nullptr && (!outputs_[slot] || outputs_[slot]->view_of_input >= 0);
    views += is_view;
    if (!is_view && outputs[slot]) bytes += static_cast<double>(outputs[slot]->meta.bytes());
    if (first == nullptr && outputs[slot]) first = &outputs[slot]->meta;
  }
  if (views == outputs.size() && views > 0) return 0;
  if (const auto cost = op_.cost(call, outputs, &local.location); cost.ok() && *cost) {
    flops = (*cost)->flops;
    bytes = (*cost)->bytes;
  }
  const double tflops =
      first == nullptr ? 0 : compute_.peak_tflops[static_cast<size_t>(first->dtype)];
  const double arithmetic_us = tflops > 0 ? flops / (tflops * compute_.efficiency * 1e6) : 0;
  const double memory_us = bytes / (compute_.memory_gbs * compute_.efficiency * 1e3);
  return std::llround(std::max({compute_.launch_us, arithmetic_us, memory_us}) * 1e6);
}

}  // namespace onedim
