// Forms of ops that the wrapper declares by their whole schema: out= with two outputs, in-place
// over a list, an out= form of another pack's op; an op that only replicates; and a shutdown.

#include <onedim/pack.hpp>

#include <algorithm>
#include <cstdio>

namespace {

using namespace onedim::api;

void extremes(const Call& call, const onedim_execution_t&) {
  const std::vector<double> x = load_dense<double>(call.tensor("x"));
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {x.empty() ? infinity : *low, x.empty() ? -infinity : *high};
  store_dense(&values[0], call.output(0));
  store_dense(&values[1], call.output(1));
}

void negate_each(const Call& call, const onedim_execution_t&) {
  for (int i = 0; i < call.output_count(); ++i) {
    std::vector<double> x = load_dense<double>(call.input(i));
    for (double& value : x) value = -value;
    store_dense(x.data(), call.output(i));
  }
}

void declare_extremes(Registrar& r) {
  r.op("forms.extremes(Tensor x) -> (Tensor low, Tensor high)")
      .infer([](const Call& call, OutputSink& outputs) {
        require(call.global_size(false, 0, 0) > 0, "x is empty");
        outputs.add(DType::kF64, {});
        outputs.add(DType::kF64, {});
      })
      .rules({"P(min), P(max) | S*(0)"})
      .position_aware()  // an empty shard is told from an empty tensor
      .compute(exact_dtypes<double>(), extremes)
      .samples({"f64[4]", "f64[5]", "f64[7]"});
  r.variant(
       "forms.extremes.out(Tensor x, *, Tensor(a!) low, Tensor(b!) high) -> "
       "(Tensor(a!) low, Tensor(b!) high)",
       "forms.extremes")
      .summary("extremes into two tensors");
}

// Each element of the list is placed by itself; negation turns a maximum into a minimum.
void emit_for_each(const Call& call, RuleSink& rules, std::vector<Placement> outputs,
                   std::vector<Placement> inputs) {
  if (inputs.size() == static_cast<size_t>(call.input_count())) return rules.add(outputs, inputs);
  const std::pair<Placement, Placement> kinds[] = {
      {replicate(), replicate()},       {shard(0), shard(0)},
      {partial("sum"), partial("sum")}, {partial("avg"), partial("avg")},
      {partial("max"), partial("min")}, {partial("min"), partial("max")}};
  for (const auto& [output, input] : kinds) {
    outputs.push_back(output);
    inputs.push_back(input);
    emit_for_each(call, rules, outputs, inputs);
    outputs.pop_back();
    inputs.pop_back();
  }
}

void declare_each(Registrar& r) {
  r.op("forms.negate_each(Tensor[] xs) -> Tensor[]")
      .infer([](const Call& call, OutputSink& outputs) {
        for (const TensorView& x : call.tensors("xs")) outputs.add(x.dtype(), {x.size(0)});
      })
      .rules([](const Call& call, RuleSink& rules) { emit_for_each(call, rules, {}, {}); })
      .compute(exact_dtypes<double>(), negate_each)
      .samples({"[f64[4]]", "[f64[5]; f64[3]]"});
  r.variant("forms.negate_each_(Tensor(a!)[] xs) -> ()", "forms.negate_each");
}

// Where an element goes depends on all others.
void declare_sorted(Registrar& r) {
  r.op("forms.sorted(Tensor x) -> Tensor")
      .infer([](const Call& call, OutputSink& outputs) {
        outputs.add(call.input(0).dtype(), {call.input(0).size(0)});
      })
      .compute(exact_dtypes<double>(),
               [](const Call& call, const onedim_execution_t&) {
                 std::vector<double> x = load_dense<double>(call.input(0));
                 std::sort(x.begin(), x.end());
                 store_dense(x.data(), call.output());
               })
      .samples({"f64[4]", "f64[5]", "f64[7]", "f64[2]", "f64[6]:positive"});
}

}  // namespace

ONEDIM_PACK("forms", "1.0.0", [](Registrar& r) {
  declare_extremes(r);
  declare_each(r);
  declare_sorted(r);
  r.variant("forms.relu_into(Tensor self, *, Tensor(a!) target) -> Tensor(a!)", "relu");
  r.on_shutdown([] { std::puts("forms has ended"); });
  r.on_shutdown([] { std::puts("forms ends"); });
});
