#pragma once
// Strategy report: what strategies say of an op, written into its report: random ones of a sample,
// or one that was asked for.

#include "core/validate/op_validation.hpp"

namespace onedim {

// `count` random strategies on each mesh. Fails where the op refuses the sample, or its kernel
// breaks the contract.
Status add_strategies(const Op& op, const CallText& sample, int count, const Registry& registry,
                      const ValidateOptions& options, OpReport& report);

// One strategy on one call. It is proved, unexercised or among the wrong strategies; what is none
// of the op is told as `misuse`.
OpReport judge_strategy_text(const Op& op, const std::string& call, const StrategyText& strategy,
                             const Registry& registry, const ValidateOptions& options);

}  // namespace onedim
