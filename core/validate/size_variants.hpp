#pragma once
// Size variants: other sizes for a sample, of the same case: dims that were equal stay equal, the
// order of sizes is kept, sizes 0 and 1 stay. For a world they are drawn twice: so that every dim
// divides into shards of two or more, and so that none does, with short and empty shards. Indices
// bounds and sizes among the attributes follow the dims whose size they name; where the op refuses
// (a product of sizes, a ratio), all sizes are scaled, then one at a time. What still is refused
// has no variant.

#include <optional>
#include <set>

#include "core/validate/place.hpp"

namespace onedim {

// Elements that a variant's largest tensor may have.
inline constexpr int64_t kMaxVariantElements = 2500;
// The same where it serves one rule only.
inline constexpr int64_t kMaxElementsOfOneRule = 65536;

// Every size a multiple of `world`.
std::vector<Subject> even_variants(const Subject& subject, int64_t world);
// No size a multiple of `world`.
std::optional<Subject> uneven_variant(const Subject& subject, int64_t world);

// The given sizes times `world`, so that every shard of them is as long as they are.
std::optional<Subject> multiplied_variant(const Subject& subject, const std::set<int64_t>& sizes,
                                          int64_t world);

// The subject with its sizes mapped by `size_of`, attributes and domains following; nullopt where
// the op refuses.
std::optional<Subject> with_sizes(const Subject& subject,
                                  const std::vector<std::pair<int64_t, int64_t>>& sizes);
// The sizes above 1 that occur in the inputs, index bounds and size attributes, in increasing
// order.
std::vector<int64_t> sizes_of(const Subject& subject);

}  // namespace onedim
