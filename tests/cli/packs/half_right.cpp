// Ops with rules that take no effect, or that are wrong under a condition.

#include <onedim/pack.hpp>

namespace {

using namespace onedim::api;

void copy(const Call& call, const onedim_execution_t&) {
  store_dense(load_dense<double>(call.input(0)).data(), call.output());
}

OpBuilder& declare(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .infer([](const Call& call, OutputSink& outputs) {
        outputs.add(call.input(0).dtype(), {call.input(0).size(0)});
      })
      .rules({"S*(0) | S*(0)", "P(sum) | P(sum)", "P(avg) | P(avg)", "P(max) | P(max)",
              "P(min) | P(min)", "P(product) | P(product)"})
      .compute(exact_dtypes<double>(), copy)
      .samples({"f64[4]", "f64[5]"});
}

}  // namespace

ONEDIM_PACK("half_right", "1.0.0", [](Registrar& r) {
  declare(r, "half_right.table(Tensor x) -> Tensor").rules({"P(nope.kind) | S(0)"});
  declare(r, "half_right.callback(Tensor x) -> Tensor").rules([](const Call&, RuleSink& rules) {
    rules.add("P(nope.kind) | R");
  });
  declare(r, "half_right.dead(Tensor x) -> Tensor").rules({"S(7) | S(7)"});
  // Not true, even where every rank has an even number of elements.
  declare(r, "half_right.bound(Tensor x) -> Tensor").rules([](const Call&, RuleSink& rules) {
    const Placement out = partial("sum"), in = partial("max");
    RuleOptions options{ONEDIM_RULE_EVEN_ONLY, 7, {{0, 0, 0, 0, 2}}};
    rules.add(std::span(&out, 1), std::span(&in, 1), options);
  });
});
