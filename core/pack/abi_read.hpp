#pragma once
// AbiRead: foreign structs to core's values, checked: pointers that must not be null, counts above
// any sane limit, numbers outside their enumerations, texts that are not UTF-8. Nothing of the
// result points into the pack. Errors say which member is wrong.

#include <onedim/pack.h>

#include <string>

#include "core/pack/op.hpp"
#include "core/pack/rule.hpp"

namespace onedim {

inline constexpr uint64_t kMaxTextBytes = 65536;
inline constexpr uint64_t kMaxCount = 65536;  // entries of any table
inline constexpr int32_t kMaxNdim = 64;

// A copy, made one line (one_line).
Result<std::string> read_text(onedim_text_t text, std::string_view what);
// A pointer and a count as they stand in a descriptor.
Status check_table(const void* pointer, uint64_t count, std::string_view what);
// A struct's own size must reach at least `least`, and be sane.
Status check_struct_size(uint64_t size, uint64_t least, std::string_view what);

Result<Placement> read_placement(const onedim_placement_t& placement);
Result<Rule> read_rule(const onedim_rule_t* rule);
Result<OptionalOutput> read_output(const onedim_output_t* output);

// `[A-Za-z0-9_.]+`, and `[a-z][a-z0-9_]*`.
bool is_op_name(std::string_view name);
bool is_pack_name(std::string_view name);
// `pack.kind`, both parts as pack names.
bool is_kind_name(std::string_view name);

}  // namespace onedim
