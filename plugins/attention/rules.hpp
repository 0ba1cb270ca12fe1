#pragma once
// Rules of attention by letters: dims of query, key, value, out, lse, mask and their gradients are
//
//   q bhqd   k bgkd   v bgke   out bhqe   lse bhq   mask bhqk (`.` where it is broadcast)
//
// Cutting the batch (b), query and key heads together (hg), the query heads alone (h), the queries
// (q), the keys (k) or the width (e) shards every tensor that has the letter. What lacks it is
// replicated, but for
//   a gradient, which is a sum over the letter's range: P(sum)
//   out and lse under k: the joint partial of their softmax
// out is linear in the value, a gradient in grad_out, and in (value, out) together, which meet in
// grad_out.v - grad_out.out; grad_value reads neither of the two.

#include "problem.hpp"

namespace attention {

void emit_rules(const Call& call, const Backend& backend, RuleSink& rules);
// True where every query sees exactly one key, always the same; more rules hold there.
bool sees_one_key(const Call& call, const Backend& backend);
void emit_single_key_rules(const Call& call, const Backend& backend, RuleSink& rules);
// Refuses local calls whose query heads may not find their key heads.
void accept_local(const Call& call);

}  // namespace attention
