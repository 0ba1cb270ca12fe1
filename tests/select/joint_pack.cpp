#include "joint_pack.hpp"

#include <onedim/pack.hpp>

#include "tests/validate/linked_pack.hpp"

namespace onedim {
namespace {

using api::Registrar;

void infer_like_inputs(const api::Call& call, api::OutputSink& outputs) {
  for (int slot = 0; slot < call.input_count(); ++slot)
    outputs.add(call.input(slot).dtype(), {call.input(slot).size(0)});
}

void compute_nothing(const api::Call&, const onedim_execution_t&) {}

void merge_nothing(api::States, api::States) {}

void declare_kinds(Registrar& r) {
  r.partial("joint.pair", {"sum", "weight"}).identity({0, 0}).combine(merge_nothing);
  r.partial("joint.ratio", {"sum", "weight"})
      .identity({0, 0})
      .combine(merge_nothing)
      .finish([](api::States, api::States) {});
}

void declare_pass(Registrar& r) {
  r.op("joint.pass(Tensor sum, Tensor weight) -> (Tensor, Tensor)")
      .infer(infer_like_inputs)
      .rules({"P(joint.pair#0), P(joint.pair#1) | P(joint.pair#0), P(joint.pair#1)",
              "P(joint.ratio#0), P(joint.ratio#1) | P(joint.ratio#0), P(joint.ratio#1)",
              "S*(0), S*(0) | S*(0), S*(0)"})
      .compute(api::dtype_mask<double>(), compute_nothing)
      .samples({"f64[4]; f64[4]"});
}

void declare_costs(Registrar& r) {
  const auto declare = [&r](std::string_view schema,
                            std::function<void(const api::Call&, onedim_cost_t&)> cost) {
    r.op(schema)
        .infer(infer_like_inputs)
        .rules({"S*(0) | S*(0)", "P(sum) | P(sum)"})
        .compute(api::dtype_mask<double>(), compute_nothing)
        .cost(std::move(cost))
        .samples({"f64[12]"});
  };
  declare("joint.unpriced(Tensor x) -> Tensor",
          [](const api::Call&, onedim_cost_t&) { api::fail("no idea what this takes"); });
  // Neither rises nor falls with the length.
  declare("joint.jagged(Tensor x) -> Tensor", [](const api::Call& call, onedim_cost_t& cost) {
    cost.flops = static_cast<double>((call.input(0).size(0) * 7919 + 3) % 17);
  });
}

// Rules whose truth has conditions: to rounding, even cuts, lengths that are multiples.
void declare_conditions(Registrar& r) {
  r.op("joint.cast(Tensor x) -> Tensor")
      .infer(infer_like_inputs)
      .rules([](const api::Call&, api::RuleSink& rules) {
        rules.add("P(sum) | P(sum)", ONEDIM_RULE_TO_ROUNDING);
        rules.add("S*(0) | S*(0)");
      })
      .compute(api::dtype_mask<double>(), compute_nothing)
      .samples({"f64[12]"});
  r.op("joint.blocks(Tensor x) -> Tensor")
      .infer(infer_like_inputs)
      .rules([](const api::Call&, api::RuleSink& rules) {
        rules.add("S*(0) | S*(0)", ONEDIM_RULE_EVEN_ONLY);
        rules.add("P(sum) | P(sum)");
      })
      .accept_local([](const api::Call& call) {
        api::require(call.input(0).size(0) % 3 == 0, "blocks are of three");
      })
      .compute(api::dtype_mask<double>(), compute_nothing)
      .samples({"f64[12]"});
}

int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) noexcept {
  return api::run_init(host, registrar, [](Registrar& r) {
    declare_kinds(r);
    declare_pass(r);
    declare_costs(r);
    declare_conditions(r);
  });
}

constexpr onedim_pack_t kPack = api::make_pack("joint", "1.0.0", init);

}  // namespace

const Registry& joint_registry() {
  static const Registry* registry = make_registry(kPack, "joint");
  return *registry;
}

}  // namespace onedim
