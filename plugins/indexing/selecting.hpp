#pragma once
// Selecting ops copy: items[j] = table[c(j)]. So whatever joins the table's parts joins the items'
// parts, and every partial passes. With R index tensors
//
//   S(d) of a dim of J      the index tensors that run over it are cut too; the table where the dim
//                           is its own at the same length, else it stays R: the kernel knows its j
//   table S(d)              a rank finds the elements of its rows and leaves 0 elsewhere: P(sum),
//                           and P(max) where no value is below 0
//
// embedding(weight [8,2], indices [3]): `P(sum) | S(0), R`, `S(0) | R, S(0)`, `S(1) | S(1), R`.

#include "index_space.hpp"

namespace indexing {

using SpaceFn = IndexSpace (*)(const Call&);

void selecting_rules(const Call& call, RuleSink& rules, const IndexSpace& space);
void select_items(const Call& call, const IndexSpace& space);
// Rules, kernel and cost of an op whose infer is its own.
OpBuilder& selecting(OpBuilder& op, SpaceFn space_of);

}  // namespace indexing
