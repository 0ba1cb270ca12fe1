#pragma once
// Placement: what one mesh dim does to a tensor. Text: `R`, `S(1)`, `S*(1)` (in rules: any kind of
// shard), `SS(0,2)` strided, `P(sum)`, `P(pack.kind#1)`, `-` for an absent tensor. Negative dims do
// not occur here.

#include <compare>
#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "core/tensor/dtype.hpp"

namespace onedim {

class Scanner;

struct Placement {
  enum class Kind : int32_t {
    kNone = ONEDIM_PLACEMENT_NONE,
    kReplicate = ONEDIM_PLACEMENT_REPLICATE,
    kShard = ONEDIM_PLACEMENT_SHARD,
    kAnyShard = ONEDIM_PLACEMENT_ANY_SHARD,
    kStridedShard = ONEDIM_PLACEMENT_STRIDED_SHARD,
    kPartial = ONEDIM_PLACEMENT_PARTIAL,
  };
  Kind kind = Kind::kReplicate;
  int dim = 0;               // shards
  int64_t split_factor = 0;  // strided shards
  std::string partial;       // partials: sum avg max min product, or pack.kind
  int component = 0;         // partials of packs

  static Placement none() { return {Kind::kNone, 0, 0, {}, 0}; }
  static Placement replicate() { return {}; }
  static Placement shard(int dim) { return {Kind::kShard, dim, 0, {}, 0}; }
  static Placement any_shard(int dim) { return {Kind::kAnyShard, dim, 0, {}, 0}; }
  static Placement strided_shard(int dim, int64_t split_factor) {
    return {Kind::kStridedShard, dim, split_factor, {}, 0};
  }
  static Placement make_partial(std::string name, int component = 0) {
    return {Kind::kPartial, 0, 0, std::move(name), component};
  }

  bool is_none() const { return kind == Kind::kNone; }
  bool is_replicate() const { return kind == Kind::kReplicate; }
  // Any of the three kinds of shard.
  bool is_shard() const {
    return kind == Kind::kShard || kind == Kind::kAnyShard || kind == Kind::kStridedShard;
  }
  bool is_partial() const { return kind == Kind::kPartial; }
  bool is_partial(std::string_view name) const { return is_partial() && partial == name; }

  auto operator<=>(const Placement&) const = default;
};

std::string format_placement(const Placement& placement);
// As their texts compare, byte by byte.
std::strong_ordering compare_text(const Placement& a, const Placement& b);
// The whole text must be one placement.
Result<Placement> parse_placement(std::string_view text);

// The placement that comes next in a longer text.
Result<Placement> scan_placement(Scanner& scanner);

// sum, avg, max, min or product.
bool is_builtin_partial(std::string_view name);
// max, min and avg: equal values on all ranks are a split, so a replicated tensor already is one.
bool is_idempotent_partial(std::string_view name);
// Two partials on one tensor: the same one, or sum with avg.
bool can_stand_together(const Placement& a, const Placement& b);
// Design of partials by dtype: bool has max and min only, integers no avg, complex no max and min;
// kinds of packs are legal for every dtype. f8e8m0 has no sum: it has no zero.
bool is_legal_partial(std::string_view name, DType dtype);
// `P(sum) is not a built-in partial of bool tensors, which have P(max) P(min)`.
std::string no_builtin_partial(const Placement& placement, DType dtype);

}  // namespace onedim
