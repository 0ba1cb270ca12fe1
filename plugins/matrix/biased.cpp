#include "biased.hpp"

namespace matrix {
namespace {

const std::vector<Placement>& unsharded() {
  static const std::vector<Placement> all = {replicate(),    partial("sum"), partial("avg"),
                                             partial("max"), partial("min"), partial("product")};
  return all;
}

bool is_shard(const Placement& placement) { return placement.kind == ONEDIM_PLACEMENT_ANY_SHARD; }
bool is_partial(const Placement& placement, std::string_view kind) {
  return placement.kind == ONEDIM_PLACEMENT_PARTIAL && view_of(placement.partial) == kind;
}

// Emits the rules of one call.
class BiasedRules {
 public:
  BiasedRules(const Call& call, RuleSink& sink, std::string_view equation, const Bias& bias)
      : call_(call),
        sink_(sink),
        bias_(bias),
        einsum_(bind_einsum(equation, call, bias.first_operand)),
        strategies_(einsum_strategies(einsum_)) {}

  void emit() {
    const bool has_bias = bias_.beta != 0.0;
    const bool has_product = bias_.alpha != 0.0 && einsum_.summed_count() != 0;
    if (has_bias && has_product) emit_sum();
    if (!has_bias && has_product) emit_product();
    if (has_bias && !has_product) emit_bias();
  }

 private:
  // The bias' dim that lies under an output dim; -1 if it is broadcast there.
  int bias_dim(int out_dim) const {
    const TensorView bias = call_.input(bias_.slot);
    const int own = out_dim - static_cast<int>(einsum_.output.size()) + bias.ndim();
    const bool follows =
        own >= 0 && (bias.size(own) != 1 || einsum_.size(einsum_.output[out_dim]) == 1);
    return follows ? own : -1;
  }
  Placement bias_under(const Placement& output) const {
    const int own = bias_dim(output.dim);
    return own < 0 ? replicate() : any_shard(own);
  }

  void add(const Placement& output, const Placement& bias, const std::vector<Placement>& operands) {
    std::vector<Placement> inputs(static_cast<size_t>(call_.input_count()), absent());
    inputs[static_cast<size_t>(bias_.slot)] = bias;
    std::copy(operands.begin(), operands.end(), inputs.begin() + bias_.first_operand);
    sink_.add(std::span(&output, 1), inputs);
  }
  // The same for every placement of the operands that are not sharded.
  void add_for_all(const Placement& output, const Placement& bias, std::vector<Placement> operands,
                   size_t from = 0) {
    while (from < operands.size() && is_shard(operands[from])) ++from;
    if (from == operands.size()) return add(output, bias, operands);
    for (const Placement& placement : unsharded()) {
      operands[from] = placement;
      add_for_all(output, bias, operands, from + 1);
    }
  }

  // Partials that the bias alone passes, as (output, bias).
  std::vector<std::pair<Placement, Placement>> ordered_passes() const {
    if (bias_.beta.imag() != 0) return {};
    const bool up = bias_.beta.real() > 0;
    return {{partial(up ? "max" : "min"), partial("max")},
            {partial(up ? "min" : "max"), partial("min")}};
  }

  void emit_sum() {
    for (const EinsumStrategy& strategy : strategies_) {
      const Placement& output = strategy.output;
      if (is_shard(output)) add(output, bias_under(output), strategy.operands);
      for (std::string_view kind : {"sum", "avg"}) {
        if (is_partial(output, kind)) add(output, partial(kind), strategy.operands);
      }
    }
    const std::vector<Placement> replicated(einsum_.operands.size(), replicate());
    for (const auto& [output, bias] : ordered_passes()) add(output, bias, replicated);
  }

  void emit_product() {
    std::vector<EinsumStrategy> strategies = strategies_;
    strategies.push_back(
        {replicate(), std::vector<Placement>(einsum_.operands.size(), replicate())});
    for (const EinsumStrategy& strategy : strategies) {
      const Placement& output = strategy.output;
      if (is_partial(output, "product") && bias_.alpha != 1.0) continue;
      if (is_shard(output) && bias_dim(output.dim) >= 0) {
        add(output, bias_under(output), strategy.operands);
        continue;
      }
      for (const Placement& bias : unsharded()) add(output, bias, strategy.operands);
    }
  }

  void emit_bias() {
    std::vector<std::pair<Placement, Placement>> passes = ordered_passes();
    passes.emplace_back(replicate(), replicate());
    for (std::string_view kind : {"sum", "avg", "product"}) {
      if (kind != "product" || bias_.beta == 1.0) passes.emplace_back(partial(kind), partial(kind));
    }
    const std::vector<Placement> replicated(einsum_.operands.size(), replicate());
    for (const auto& [output, bias] : passes) add_for_all(output, bias, replicated);
    for (const EinsumStrategy& strategy : strategies_) {
      const bool is_cut = is_shard(strategy.operands[0]) || is_shard(strategy.operands.back());
      if (is_shard(strategy.output)) {
        add_for_all(strategy.output, bias_under(strategy.output), strategy.operands);
      } else if (is_cut) {
        for (const auto& [output, bias] : passes) add_for_all(output, bias, strategy.operands);
      }
    }
  }

  const Call& call_;
  RuleSink& sink_;
  const Bias& bias_;
  Einsum einsum_;
  std::vector<EinsumStrategy> strategies_;
};

}  // namespace

void biased_rules(const Call& call, RuleSink& rules, std::string_view equation, const Bias& bias) {
  BiasedRules(call, rules, equation, bias).emit();
}

}  // namespace matrix
