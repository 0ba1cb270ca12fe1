#pragma once
// Laws: what each output of an op is of its arguments, from which the rules of an op with several
// outputs follow. An output reads some arguments; its families (onedim/families.hpp) say which of
// these may be partial together and what comes out, the others it reads being replicated.
//   grad_input = g * w, grad_weight = sum g * x: a P(sum) weight gives `P(sum), R | R, R, P(sum)`,
//   a P(sum) gradient `P(sum), P(sum) | P(sum), R, R`; without grad_input the weight may be
//   anything.
// A combination is a rule if every output obeys one of its families, or reads replicated values
// alone. Equal values are a split of their mean, largest and smallest, so where one output wants
// such a partial and another the whole value, the whole value serves both.

#include <onedim/pack.hpp>

namespace nn {

using namespace onedim::api;

struct Law {
  std::vector<std::string_view> reads;
  Families families;
};

class LawRules {
 public:
  // One law an output slot; those of absent outputs are passed over. Laws beyond the outputs are of
  // what the op writes into its arguments: they bind these arguments, and show nowhere else.
  LawRules(const Call& call, RuleSink& rules, std::vector<Law> laws);

  // Every rule of partials that follows.
  void add_partials();
  // A rule that cuts: arguments that are not named are replicated, or anything unsharded if no
  // output reads them. A cut of a dim of size 1 is no rule.
  void add_cut(std::vector<Placement> outputs, const std::vector<RuleSink::Named>& inputs,
               const RuleOptions& options = {});

 private:
  DType dtype_of(size_t law) const;
  void choose(size_t output, std::vector<Placement> outputs, std::vector<Placement> inputs);
  bool unify(const Family& family, const KindPair& kinds, const Law& law,
             std::vector<Placement>& inputs) const;
  bool demand(std::string_view name, const Placement& placement,
              std::vector<Placement>& inputs) const;
  void emit(const std::vector<Placement>& outputs, std::vector<Placement> inputs,
            const RuleOptions& options, size_t from = 0);

  const Call& call_;
  RuleSink& rules_;
  std::vector<Law> laws_;
};

}  // namespace nn
