// Gradients scaled back by inv_scale, and whether one of them was no finite number: found_inf is 1
// then, else what it was. Each rank looks at its shards, so what they found is joined by max.
//   two gradients f32[4,6], found_inf 0: S(0), S(0), P(max) | S(0), S(0), R, R

#include <cmath>

#include "families.hpp"

namespace optim {
namespace {

void unscale_rules(const Call& call, RuleSink& rules) {
  const onedim_argument_t& list = call.argument("self");
  for (const std::vector<Placement>& choice : shard_choices(call.tensors("self"))) {
    std::vector<Placement> inputs(call.input_count(), replicate()), outputs = choice;
    std::copy(choice.begin(), choice.end(), inputs.begin() + list.first_slot);
    outputs.push_back(partial("max"));
    for (const Placement& found : {replicate(), partial("max")}) {
      inputs[call.slot("found_inf")] = found;
      rules.add(outputs, inputs);
    }
  }
}

void unscale(const Call& call) {
  const double scale = load_dense<double>(call.tensor("inv_scale"))[0];
  double found = load_dense<double>(call.tensor("found_inf"))[0];
  const std::vector<TensorView> list = call.tensors("self");
  for (size_t i = 0; i < list.size(); ++i) {
    std::vector<double> values = load_dense<double>(list[i]);
    for (double& value : values) {
      if (!std::isfinite(value)) found = 1;
      if (scale != 1) value *= scale;
    }
    store_dense(values.data(), call.output(static_cast<int>(i)));
  }
  store_dense(&found, call.output(static_cast<int>(list.size())));
}

}  // namespace

void declare_unscale(Registrar& r) {
  const std::string name = "_amp_foreach_non_finite_check_and_unscale";
  r.op(name +
       "(Tensor[] self, Tensor found_inf, Tensor inv_scale) -> (Tensor[] self_out, Tensor "
       "found_inf_out)")
      .summary("a list times inv_scale, and found_inf set to 1 where an element is not finite")
      .infer([](const Call& call, OutputSink& outputs) {
        for (std::string_view number : {"found_inf", "inv_scale"}) {
          if (call.tensor(number).element_count() != 1)
            fail(std::string(number) + " must have one element");
        }
        for (const TensorView& tensor : call.tensors("self"))
          outputs.add(tensor.dtype(), shape_of(tensor));
        outputs.add(call.tensor("found_inf").dtype(), shape_of(call.tensor("found_inf")));
      })
      .rules(unscale_rules)
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) { unscale(call); })
      .cost([](const Call& call, onedim_cost_t& cost) { elementwise_cost(call, 1, cost); })
      .samples({"[f64[5,7]:nonfinite]; f32[1]:values(0); f32[1]:values(0.5,0.25)",
                "[f32[4,1]:nonfinite; f32[3]:nonfinite]; f32[1]:values(0); f32[1]:values(0.5)",
                "[f64[6]:nonfinite]; f32[1]:values(0,1); f32[1]:values(1)",
                "[bf16[4]:nonfinite]; f32[1]:values(0); f32[1]:values(0.5)",
                "[f64[2]:nonfinite; f64[3]:nonfinite]; f64[1]:values(0,1); f64[1]:values(2)"});
  r.variant(name + "_(Tensor(a!)[] self, Tensor(b!) found_inf, Tensor inv_scale) -> ()", name)
      .summary("the same in place");
}

}  // namespace optim
