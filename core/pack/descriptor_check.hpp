#pragma once
// DescriptorCheck: a foreign descriptor as a core record, or what is wrong with it: sizes, required
// pointers, counts, ids, texts, schema, rule and sample syntax, and that the parts name each other
// rightly. Pure functions: nothing is registered here.

#include <onedim/pack.h>

#include <memory>

#include "core/pack/op.hpp"
#include "core/pack/partial_kind.hpp"

namespace onedim {

Status check_pack(const onedim_pack_t& pack);

// `pack` is the registering pack's name.
Result<std::unique_ptr<Op>> read_op(const onedim_op_t* op, const std::string& pack);
Result<std::pair<std::string, Kernel>> read_kernel(const onedim_kernel_t* kernel,
                                                   const std::string& pack);
Result<std::unique_ptr<PartialKind>> read_partial_kind(const onedim_partial_kind_t* kind,
                                                       const std::string& pack);

}  // namespace onedim
