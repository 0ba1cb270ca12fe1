// Where every query sees one key alone, its weight is 1 and nothing is left of the softmax:
//
//   out = v (times dropout's factor)      lse = scale q.k + bias
//
// So out passes every partial of the value, and lse is linear in the query and in the key, affine
// with the bias, and a sum over the features. With one key [1,1,1,2], q (1,2), k (3,1), scale 1:
// lse = 5, from the first feature 3, from the second 2. Rules of the two outputs combine freely.

#include "rules.hpp"

namespace attention {
namespace {

struct Side {
  Placement output;
  std::vector<std::pair<std::string_view, Placement>> inputs;
};

std::vector<Side> out_sides(const Call& call) {
  std::vector<Side> sides = {{replicate(), {}}, {any_shard(3), {{"value", any_shard(3)}}}};
  for (const std::string_view kind : {"sum", "avg", "max", "min", "product"}) {
    if (kind != "product" || call.attribute<double>("dropout_p") == 0)
      sides.push_back({partial(kind), {{"value", partial(kind)}}});
  }
  return sides;
}

std::vector<Side> lse_sides(const Call& call, const Backend& backend) {
  std::vector<Side> sides = {{replicate(), {}}};
  const TensorView bias = bias_of(call, backend);
  if (bias.present() && is_bool(bias.dtype())) return sides;
  const auto add = [&](std::string_view kind,
                       std::vector<std::pair<std::string_view, Placement>> in) {
    if (!backend.bias.empty()) in.emplace_back(backend.bias, partial(kind));
    sides.push_back({partial(kind), std::move(in)});
  };
  for (const std::string_view kind : {"sum", "avg"}) {
    add(kind, {{"query", partial(kind)}});
    add(kind, {{"key", partial(kind)}});
  }
  add("sum", {{"query", any_shard(3)}, {"key", any_shard(3)}});
  if (bias.present()) {
    add("max", {});
    add("min", {});
  } else if (call.tensor("query").size(3) == 1 && scale_of(call) == 1) {
    sides.push_back(
        {partial("product"), {{"query", partial("product")}, {"key", partial("product")}}});
  }
  return sides;
}

}  // namespace

bool sees_one_key(const Call& call, const Backend& backend) {
  const int64_t queries = call.tensor("query").size(2), keys = call.tensor("key").size(2);
  const bool is_causal = call.attribute<bool>("is_causal");
  const bool is_bottom_right = backend.causal == Causal::kBottomRight;
  if (keys == 1) return !is_causal || !is_bottom_right || queries == 1;
  return keys > 1 && queries == 1 && is_causal && !is_bottom_right;
}

void emit_single_key_rules(const Call& call, const Backend& backend, RuleSink& sink) {
  const bool has_lse = backend.results[1] == Result::kLogsumexp && call.output(1).present();
  const std::vector<Side> for_lse =
      has_lse ? lse_sides(call, backend) : std::vector<Side>{{replicate(), {}}};
  for (const Side& out : out_sides(call)) {
    for (const Side& lse : for_lse) {
      std::vector<Placement> inputs, outputs;
      for (int slot = 0; slot < call.input_count(); ++slot)
        inputs.push_back(call.input(slot).present() ? replicate() : absent());
      for (const Side& side : {out, lse}) {
        for (const auto& [name, placement] : side.inputs) {
          if (call.has_tensor(name)) inputs[static_cast<size_t>(call.slot(name))] = placement;
        }
      }
      for (int slot = 0; slot < call.output_count(); ++slot)
        outputs.push_back(call.output(slot).present() ? replicate() : absent());
      outputs[0] = out.output;
      if (has_lse) outputs[1] = lse.output;
      sink.add(outputs, inputs);
    }
  }
}

}  // namespace attention
