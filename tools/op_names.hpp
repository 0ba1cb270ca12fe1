#pragma once
// Op names as typed: an exact name wins; `NAME.*` means all overloads; a bare base name stands for
// all overloads, where no op has exactly that name. PyTorch's spellings `aten.mm` and `mm.default`
// are read as `mm`.

#include <string>
#include <string_view>
#include <vector>

#include "core/pack/registry.hpp"

namespace onedim {

std::string canonical_op_name(std::string_view text);

// The op of exactly this name and all overloads of it, sorted by name; may be empty.
std::vector<const Op*> ops_of_base(const Registry& registry, const std::string& base);

// At least one op, sorted by name. NotFound with the nearest name otherwise.
Result<std::vector<const Op*>> find_ops(const Registry& registry, std::string_view text);

// One op; a bare name of several overloads is refused with the list of them.
Result<const Op*> find_op(const Registry& registry, std::string_view text);

}  // namespace onedim
