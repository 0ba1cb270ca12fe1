// Adam's step t over lists of parameters p with gradients g, means m and v of g and g^2:
//   m' = m + (1 - b1) (g - m),  v' = b2 v + (1 - b2) g^2,
//   p' = p - lr / (1 - b1^t) * m' / (sqrt(v' / (1 - b2^t)) + eps),
// with g + w p for g (Adam), or p (1 - lr w) for p (AdamW), where w is the weight decay. Elements
// stay apart, so every dim of a parameter may be cut if its gradient and means are cut alike; the
// root and the square let no partial through.
//   p, g, m, v f64[4,6], t f32[]: S(0), S(0), S(0), S(0) | S(0), S(0), S(0), S(0), R

#include <cmath>

#include "families.hpp"

namespace optim {
namespace {

// The lists that a step reads and writes; max_exp_avg_sqs is empty but for amsgrad.
constexpr std::array<std::string_view, 5> kStates = {"self", "grads", "exp_avgs", "exp_avg_sqs",
                                                     "max_exp_avg_sqs"};
enum State { kParameter, kGradient, kMean, kSquares, kMostSquares };

size_t length_of(const Call& call, std::string_view name) { return call.tensors(name).size(); }

void check_lists(const Call& call) {
  const bool amsgrad = call.attribute<bool>("amsgrad");
  const size_t count = length_of(call, "self");
  for (std::string_view name : kStates) {
    if (name == "max_exp_avg_sqs" && !amsgrad) continue;
    if (length_of(call, name) != count)
      fail("the list " + std::string(name) + " must be as long as self");
  }
  require(length_of(call, "state_steps") == count, "state_steps must be as long as self");
  const std::vector<TensorView> parameters = call.tensors("self");
  for (std::string_view name : kStates) {
    const std::vector<TensorView> list = call.tensors(name);
    for (size_t i = 0; i < list.size(); ++i) {
      const bool fits = i < count && list[i].dtype() == parameters[i].dtype() &&
                        shape_of(list[i]) == shape_of(parameters[i]);
      if (!fits) fail("the elements of " + std::string(name) + " must be as those of self");
    }
  }
  for (const TensorView& step : call.tensors("state_steps"))
    require(step.element_count() == 1, "a step must be a tensor of one element");
}

// Every state of element i is placed as the element.
void step_rules(const Call& call, RuleSink& rules) {
  for (const std::vector<Placement>& choice : shard_choices(call.tensors("self"))) {
    std::vector<Placement> inputs(call.input_count(), replicate()), outputs;
    for (int slot = 0; slot < call.input_count(); ++slot) {
      if (!call.input(slot).present()) inputs[slot] = absent();
    }
    for (std::string_view name : kStates) {
      const onedim_argument_t& list = call.argument(name);
      for (int i = 0; i < list.slot_count; ++i) {
        inputs[list.first_slot + i] = choice[i];
        outputs.push_back(choice[i]);
      }
    }
    rules.add(outputs, inputs);
  }
}

double lone_value(const TensorView& tensor) { return load_dense<double>(tensor)[0]; }

struct Step {
  double lr, beta1, beta2, weight_decay, eps, grad_scale;
  bool amsgrad, maximize, decays_apart;

  // One element; `most` is null without amsgrad.
  void advance(double t, double& p, double& g, double& m, double& v, double* most) const {
    g /= grad_scale;
    double slope = maximize ? -g : g;
    if (decays_apart)
      p -= lr * weight_decay * p;
    else
      slope += weight_decay * p;
    m += (1 - beta1) * (slope - m);
    v = beta2 * v + (1 - beta2) * slope * slope;
    if (most != nullptr) *most = std::max(*most, v);
    const double squares = most != nullptr ? *most : v;
    const double root = std::sqrt(squares) / std::sqrt(1 - std::pow(beta2, t)) + eps;
    p -= lr / (1 - std::pow(beta1, t)) * m / root;
  }
};

Step step_of(const Call& call, bool decays_apart) {
  const auto number = [&call](const char* name) { return call.attribute<double>(name); };
  const bool has_tensor_lr = call.has_tensor("lr");
  return {has_tensor_lr ? lone_value(call.tensor("lr")) : number("lr"),
          number("beta1"),
          number("beta2"),
          number("weight_decay"),
          number("eps"),
          call.has_tensor("grad_scale") ? lone_value(call.tensor("grad_scale")) : 1,
          call.attribute<bool>("amsgrad"),
          call.attribute<bool>("maximize"),
          decays_apart};
}

void run_step(const Call& call, bool decays_apart) {
  const Step step = step_of(call, decays_apart);
  const bool is_skipped = call.has_tensor("found_inf") && lone_value(call.tensor("found_inf")) == 1;
  const std::vector<TensorView> steps = call.tensors("state_steps");
  const size_t count = steps.size();
  const size_t states = length_of(call, "max_exp_avg_sqs") > 0 ? 5 : 4;
  for (size_t i = 0; i < count; ++i) {
    std::array<std::vector<double>, 5> values;
    for (size_t state = 0; state < states; ++state)
      values[state] = load_dense<double>(call.tensors(kStates[state])[i]);
    const double t = lone_value(steps[i]);
    for (size_t at = 0; !is_skipped && at < values[kParameter].size(); ++at) {
      step.advance(t, values[kParameter][at], values[kGradient][at], values[kMean][at],
                   values[kSquares][at], step.amsgrad ? &values[kMostSquares][at] : nullptr);
    }
    for (size_t state = 0; state < states; ++state)
      store_dense(values[state].data(), call.output(static_cast<int>(state * count + i)));
  }
}

const std::initializer_list<std::string_view> kSamples = {
    "[f64[5,7]]; [f64[5,7]]; [f64[5,7]]; [f64[5,7]:positive]; []; [f32[]:values(1,2,9)]; lr=0.5; "
    "beta1=0.5; beta2=0.75; weight_decay=0.25; eps=0.125; amsgrad=false; maximize=false",
    "[f32[4,1]]; [f32[4,1]]; [f32[4,1]]; [f32[4,1]:positive]; []; [f32[]:values(1,2)]; lr=0.25; "
    "beta1=0.5; beta2=0.5; weight_decay=0.0; eps=0.25; amsgrad=false; maximize=true",
    "[f64[6]]; [f64[6]]; [f64[6]]; [f64[6]:positive]; [f64[6]:positive]; [f32[]:values(1,3)]; "
    "lr=0.5; beta1=0.25; beta2=0.75; weight_decay=0.5; eps=0.125; amsgrad=true; maximize=false",
    "[f64[3]; f64[2]]; [f64[3]; f64[2]]; [f64[3]; f64[2]]; [f64[3]:positive; f64[2]:positive]; []; "
    "[f32[]:values(1,2); f32[]:values(1,5)]; lr=0.5; beta1=0.5; beta2=0.5; weight_decay=0.25; "
    "eps=0.25; amsgrad=false; maximize=false",
    "[f64[5]]; [f64[5]]; [f64[5]]; [f64[5]:positive]; []; [f32[]:values(1,2)]; f32[]:values(2,4); "
    "f32[]:values(0,0,1); lr=0.5; beta1=0.5; beta2=0.5; weight_decay=0.25; eps=0.25; "
    "amsgrad=false; maximize=false"};
const std::initializer_list<std::string_view> kTensorRateSamples = {
    "[f64[5,7]]; [f64[5,7]]; [f64[5,7]]; [f64[5,7]:positive]; []; [f32[]:values(1,2,9)]; "
    "f64[]:positive; beta1=0.5; beta2=0.75; weight_decay=0.25; eps=0.125; amsgrad=false; "
    "maximize=false",
    "[f32[4]]; [f32[4]]; [f32[4]]; [f32[4]:positive]; []; [f32[]:values(1,2)]; f32[]:positive; "
    "beta1=0.5; beta2=0.5; weight_decay=0.0; eps=0.25; amsgrad=false; maximize=true"};

void declare_form(Registrar& r, const std::string& name, bool decays_apart, bool has_tensor_rate) {
  const std::string lr = has_tensor_rate ? "Tensor lr" : "float lr";
  const std::string overload = has_tensor_rate ? ".tensor_lr" : "";
  const std::string rest = ", Tensor[] state_steps, *, " + lr +
                           ", float beta1, float beta2, float weight_decay, float eps, bool "
                           "amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? "
                           "found_inf=None) -> ";
  const std::string plain = name + overload;
  r.op(plain +
       "(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] "
       "max_exp_avg_sqs" +
       rest +
       "(Tensor[] self_out, Tensor[] grads_out, Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out, "
       "Tensor[] max_exp_avg_sqs_out)")
      .summary(decays_apart ? "one step of AdamW over lists" : "one step of Adam over lists")
      .infer([](const Call& call, OutputSink& outputs) {
        check_lists(call);
        for (std::string_view state : kStates) {
          for (const TensorView& tensor : call.tensors(state))
            outputs.add(tensor.dtype(), shape_of(tensor));
        }
      })
      .rules(step_rules)
      .compute(dtype_mask<float, double>(),
               [decays_apart](const Call& call, const onedim_execution_t&) {
                 run_step(call, decays_apart);
               })
      .cost([](const Call& call, onedim_cost_t& cost) { elementwise_cost(call, 4, cost); })
      .samples(has_tensor_rate ? kTensorRateSamples : kSamples);
  r.variant(name + "_" + overload +
                "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] "
                "exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs" +
                rest + "()",
            plain)
      .summary(decays_apart ? "one step of AdamW over lists, in place"
                            : "one step of Adam over lists, in place");
}

}  // namespace

void declare_adam(Registrar& r) {
  for (const bool decays_apart : {false, true}) {
    const std::string name = decays_apart ? "_fused_adamw" : "_fused_adam";
    declare_form(r, name, decays_apart, false);
    declare_form(r, name, decays_apart, true);
  }
}

}  // namespace optim
