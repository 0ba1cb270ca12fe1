#pragma once
// Variant: how in-place, out= and list forms borrow from their plain op. A variant's call is turned
// into the plain op's call by argument names (of list forms see list_form.hpp); an argument that
// only the variant has must be a written one (`out`). The outputs of a variant that writes are its
// written tensors, in the order of the plain op's outputs, whether or not the schema returns them:
// they keep their own dtype, shape and strides, and the plain result must fit.

#include <vector>

#include "core/pack/op.hpp"

namespace onedim {

// Sets the link and what the variant shares, after checking that the two schemas belong together.
Status link_variant(Op& variant, const Op& plain);

struct PlainCall {
  Call call;
  std::vector<int> slots;  // the variant's input slot of each of the plain call's input slots
  int element = -1;        // of a list form: its output is the variant's output of this number
};
// The one call of the plain op that the variant stands for, or one for each element of a list
// form. `op` is linked to its plain op.
Result<std::vector<PlainCall>> plain_calls(const Op& op, const Call& call);

Location location_of_plain(const Location& location, const PlainCall& plain);

// Of the variant's outputs those of the plain call.
template <typename T>
std::span<T> outputs_of_plain(const PlainCall& plain, std::span<T> outputs) {
  return plain.element < 0 ? outputs : outputs.subspan(plain.element, 1);
}

// The input slots that the call writes, output by output.
std::vector<int> written_slots(const Op& op, const Call& call);

Result<std::vector<OptionalOutput>> infer_variant(const Op& op, const Call& call,
                                                  const Location* location);

// The plain op's `outputs | inputs` as the variant's; false where an in-place form cannot keep the
// placement of the tensor it writes.
bool rule_of_variant(const PlainCall& plain, std::span<const int> written, size_t input_count,
                     Rule& rule);

// Sample texts derived from the plain op's; those that the variant's infer refuses are left out.
Result<std::vector<std::string>> samples_of_variant(const Op& op);

}  // namespace onedim
