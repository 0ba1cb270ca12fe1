#include "core/pack/abi_read.hpp"

#include <algorithm>

#include "core/base/one_line.hpp"

namespace onedim {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Length of the UTF-8 sequence at `text[i]`, or 0 if it is ill-formed (overlong, surrogate, out of
// range).
size_t sequence_length(std::string_view text, size_t i) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(i);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || i + length > text.size()) return 0;
  for (size_t k = 1; k < length; ++k) {
    if (!is_continuation(text[i + k])) return 0;
  }
  const unsigned char second = byte(i + 1);
  const bool is_legal = (first != 0xe0 || second >= 0xa0) && (first != 0xed || second < 0xa0) &&
                        (first != 0xf0 || second >= 0x90) && (first != 0xf4 || second < 0x90);
  return is_legal ? length : 0;
}

Status check_utf8(std::string_view text, std::string_view what) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = sequence_length(text, i);
    if (length == 0) return invalid_argument("{} is not UTF-8 at byte {}", what, i);
    if (text[i] == 0) return invalid_argument("{} has a zero byte at {}", what, i);
    i += length;
  }
  return absl::OkStatus();
}

Status read_placements(const onedim_placement_t* placements, uint64_t count, std::string_view what,
                       std::vector<Placement>& result) {
  if (Status status = check_table(placements, count, what); !status.ok()) return status;
  result.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    Result<Placement> placement = read_placement(placements[i]);
    if (!placement.ok()) return annotate(placement.status(), fmt::format("{}[{}]", what, i));
    result.push_back(*std::move(placement));
  }
  return absl::OkStatus();
}

Status read_requirements(const onedim_rule_t& rule, std::vector<Requirement>& result) {
  Status status = check_table(rule.requirements, rule.requirement_count, "requirements");
  if (!status.ok()) return status;
  for (uint64_t i = 0; i < rule.requirement_count; ++i) {
    const onedim_requirement_t& requirement = rule.requirements[i];
    const uint64_t slots = requirement.is_output != 0 ? rule.output_count : rule.input_count;
    if (requirement.slot < 0 || static_cast<uint64_t>(requirement.slot) >= slots) {
      return invalid_argument("requirements[{}].slot is {}, but the rule has {} {} slots", i,
                              requirement.slot, slots,
                              requirement.is_output != 0 ? "output" : "input");
    }
    if (requirement.dim < 0 || requirement.dim >= kMaxNdim || requirement.multiple < 1) {
      return invalid_argument("requirements[{}] asks for multiples of {} on dim {}", i,
                              requirement.multiple, requirement.dim);
    }
    result.push_back(
        {requirement.is_output != 0, requirement.slot, requirement.dim, requirement.multiple});
  }
  return absl::OkStatus();
}

Status read_dims(const int64_t* values, int32_t count, std::string_view what, Dims& result) {
  for (int32_t i = 0; i < count; ++i) {
    if (values[i] < 0)
      return invalid_argument("{}[{}] is {}; it must not be negative", what, i, values[i]);
    result.push_back(values[i]);
  }
  return absl::OkStatus();
}

}  // namespace

Result<std::string> read_text(onedim_text_t text, std::string_view what) {
  if (text.size > kMaxTextBytes) {
    return invalid_argument("{} has {} bytes, expected at most {}", what, text.size, kMaxTextBytes);
  }
  if (text.size > 0 && text.data == nullptr) return invalid_argument("{} has a null pointer", what);
  const std::string_view view =
      text.size == 0 ? std::string_view{} : std::string_view(text.data, text.size);
  if (Status status = check_utf8(view, what); !status.ok()) return status;
  return one_line(view);
}

Status check_table(const void* pointer, uint64_t count, std::string_view what) {
  if (count > kMaxCount)
    return invalid_argument("{} has {} entries, expected at most {}", what, count, kMaxCount);
  if (count > 0 && pointer == nullptr)
    return invalid_argument("{} has {} entries but a null pointer", what, count);
  return absl::OkStatus();
}

Status check_struct_size(uint64_t size, uint64_t least, std::string_view what) {
  if (size < least || size > kMaxTextBytes) {
    return invalid_argument("{}.struct_size is {}, expected at least {}", what, size, least);
  }
  return absl::OkStatus();
}

Result<Placement> read_placement(const onedim_placement_t& placement) {
  if (placement.dim < 0 || placement.dim >= kMaxNdim) {
    return invalid_argument("a placement's dim is {}, expected 0 to {}", placement.dim,
                            kMaxNdim - 1);
  }
  switch (placement.kind) {
    case ONEDIM_PLACEMENT_NONE:
      return Placement::none();
    case ONEDIM_PLACEMENT_REPLICATE:
      return Placement::replicate();
    case ONEDIM_PLACEMENT_SHARD:
      return Placement::shard(placement.dim);
    case ONEDIM_PLACEMENT_ANY_SHARD:
      return Placement::any_shard(placement.dim);
    case ONEDIM_PLACEMENT_STRIDED_SHARD:
      if (placement.split_factor < 1) {
        return invalid_argument("a strided shard's split_factor is {}", placement.split_factor);
      }
      return Placement::strided_shard(placement.dim, placement.split_factor);
    case ONEDIM_PLACEMENT_PARTIAL:
      break;
    default:
      return invalid_argument("there is no placement kind {}", placement.kind);
  }
  Result<std::string> kind = read_text(placement.partial, "a partial's kind");
  if (!kind.ok()) return kind.status();
  if (!is_builtin_partial(*kind) && !is_kind_name(*kind)) {
    return invalid_argument(
        "partial kind \"{}\" is neither sum, avg, max, min, product nor `pack.kind`", *kind);
  }
  if (placement.component < 0 || placement.component > 64) {
    return invalid_argument("a partial's component is {}", placement.component);
  }
  return Placement::make_partial(*std::move(kind), placement.component);
}

Result<Rule> read_rule(const onedim_rule_t* rule) {
  if (rule == nullptr) return invalid_argument("the rule is a null pointer");
  Status status = check_struct_size(rule->struct_size,
                                    offsetof(onedim_rule_t, tag) + sizeof(rule->tag), "rule");
  if (!status.ok()) return status;
  constexpr uint64_t kKnownFlags = ONEDIM_RULE_EVEN_ONLY | ONEDIM_RULE_TO_ROUNDING;
  if ((rule->flags & ~kKnownFlags) != 0)
    return invalid_argument("rule.flags {:#x} has unknown bits", rule->flags);
  Rule result;
  status = read_placements(rule->outputs, rule->output_count, "rule.outputs", result.outputs);
  if (!status.ok()) return status;
  status = read_placements(rule->inputs, rule->input_count, "rule.inputs", result.inputs);
  if (!status.ok()) return status;
  if (status = read_requirements(*rule, result.requirements); !status.ok()) return status;
  result.even_only = (rule->flags & ONEDIM_RULE_EVEN_ONLY) != 0;
  result.to_rounding = (rule->flags & ONEDIM_RULE_TO_ROUNDING) != 0;
  result.tag = rule->tag;
  return result;
}

Result<OptionalOutput> read_output(const onedim_output_t* output) {
  if (output == nullptr) return invalid_argument("the output is a null pointer");
  constexpr uint64_t kLeast = offsetof(onedim_output_t, storage_offset) + sizeof(int64_t);
  if (Status status = check_struct_size(output->struct_size, kLeast, "output"); !status.ok())
    return status;
  if (output->present == 0) return OptionalOutput{};
  if (output->dtype < 0 || output->dtype >= kDTypeCount)
    return invalid_argument("there is no dtype {}", output->dtype);
  if (output->ndim < 0 || output->ndim > kMaxNdim) {
    return invalid_argument("ndim is {}, expected 0 to {}", output->ndim, kMaxNdim);
  }
  if (output->ndim > 0 && output->shape == nullptr)
    return invalid_argument("shape is a null pointer");
  OutputMeta result;
  result.meta.dtype = static_cast<DType>(output->dtype);
  if (Status status = read_dims(output->shape, output->ndim, "shape", result.meta.shape);
      !status.ok())
    return status;
  if (checked_volume(result.meta.shape) < 0) {
    return invalid_argument("shape {} has more than 2^62 elements", format_dims(result.meta.shape));
  }
  if (output->strides == nullptr) {
    result.meta.strides = row_major_strides(result.meta.shape);
  } else if (Status status =
                 read_dims(output->strides, output->ndim, "strides", result.meta.strides);
             !status.ok()) {
    return status;
  }
  result.view_of_input = output->view_of_input;
  result.storage_offset = output->storage_offset;
  return OptionalOutput(std::move(result));
}

bool is_op_name(std::string_view name) {
  return !name.empty() && name.size() <= 256 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  });
}

bool is_pack_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name[0] >= 'a' && name[0] <= 'z' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

bool is_kind_name(std::string_view name) {
  const size_t point = name.find('.');
  return point != std::string_view::npos && is_pack_name(name.substr(0, point)) &&
         is_pack_name(name.substr(point + 1));
}

}  // namespace onedim
