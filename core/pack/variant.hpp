#pragma once
// Variant: how in-place and out= forms borrow from their plain op. A variant's call is turned into
// the plain op's call by argument names; an argument that only the variant has must be a written
// one (`out`). The outputs of a variant are its written tensors, in the order of the plain op's
// outputs, whether or not the schema returns them: they keep their own dtype, shape and strides,
// and the plain result must fit.

#include <vector>

#include "core/pack/op.hpp"

namespace onedim {

// Sets the link and what the variant shares, after checking that the two schemas belong together.
Status link_variant(Op& variant, const Op& plain);

struct PlainCall {
  Call call;
  std::vector<int> slots;  // the variant's input slot of each of the plain call's input slots
};
// `op` is linked to its plain op.
Result<PlainCall> plain_call(const Op& op, const Call& call);

Location location_of_plain(const Location& location, std::span<const int> slots);

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
