#pragma once
// ListForm: an op over lists that borrows from the plain op of one element, as
// `_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]` does from
// `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`. Lists are zipped: element i
// is the plain op on the i-th items, and its output is the i-th. What is no list in the form is
// every element's; a tensor of that sort has no dims. Arguments belong together by name, or else by
// position; a number may stand for a tensor, as it may in the plain op's calls. Elements know
// nothing of each other, so that any of their rules hold together.

#include <vector>

#include "core/pack/closed_rules.hpp"
#include "core/pack/variant.hpp"

namespace onedim {

// Whether the form has a list where the plain op has a single argument.
bool is_list_form(const Schema& form, const Schema& plain);

// Whether the form's schema can be the plain op's over lists; sets which arguments belong together.
Status check_list_form(Op& form, const Op& plain);

// The plain calls of the elements; an error where the lists do not zip.
Result<std::vector<PlainCall>> element_calls(const Op& form, const Call& call);

// What may be chosen for one element: closed rules of the plain call, and the same in the form's
// slots, `-` in those of other elements.
struct ElementRules {
  std::vector<ClosedRule> of_plain;
  std::vector<ClosedRule> of_form;
};
// All combinations of the elements' rules where they are few; else those where elements of one kind
// (of the same rules) have the same; and where these are many too, one rule for all elements that
// have it, the others replicated.
std::vector<ClosedRule> combined_rules(std::span<const ElementRules> elements);

// Lists made of the plain op's samples, two in a list where that leaves few placements to try.
Result<std::vector<std::string>> samples_of_list_form(const Op& form);
// The first list of two that the plain op's example or one of its samples makes.
Result<std::string> example_of_list_form(const Op& form);

}  // namespace onedim
