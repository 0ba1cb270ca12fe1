// A reshape splits into groups: the shortest stretches of input and output dims with equal
// products, f32[4,6,5] as f32[24,5]: {4,6 | 24} and {5 | 5}. A group of one dim each keeps any
// shard. In another, S(k) over n ranks gives a rank the r-th piece of each of `outside` blocks,
//   outside = product of the dims before k,  inside = product of those behind,
// c inside consecutive elements of each block, c = ceil(length / n). The first dims of both sides
// have outside 1. Any other plain shard is strided on the other side: S(1) of f32[4,6] is SS(0,4)
// of f32[24], and the other way round.
//
// Two cuts into the same blocks agree where c inside = c' inside', that is where the lengths are
// multiples of lcm / inside and lcm / inside'. Where all lengths divide they agree always: that is
// said too, since it stays true once other mesh dims have cut dims behind. Dims before must be
// whole: a mesh dim that cuts them first would change the number of blocks.

#include "reshape_rules.hpp"

#include <numeric>

namespace shape {
namespace {

// One dim of a group, with its place in the tensor.
struct GroupDim {
  int dim = 0;
  int64_t size = 1, outside = 1, inside = 1;
};
using Side = std::vector<GroupDim>;

struct Group {
  Side from, to;
};

void note_products(Side& side) {
  int64_t outside = 1, inside = 1;
  for (GroupDim& at : side) {
    at.outside = outside;
    outside *= at.size;
  }
  for (size_t i = side.size(); i-- > 0;) {
    side[i].inside = inside;
    inside *= side[i].size;
  }
}

// Dims of size 1 are in no group: a shard of one is no shard.
Side dims_beyond_one(const Shape& shape) {
  Side side;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] != 1) side.push_back({static_cast<int>(dim), shape[dim]});
  }
  return side;
}

std::vector<Group> groups_of(const Shape& from, const Shape& to) {
  const Side left = dims_beyond_one(from), right = dims_beyond_one(to);
  std::vector<Group> groups;
  size_t i = 0, j = 0;
  while (i < left.size() && j < right.size()) {
    Group group{{left[i]}, {right[j]}};
    int64_t left_count = left[i++].size, right_count = right[j++].size;
    while (left_count != right_count) {
      if (left_count < right_count) {
        left_count *= left[i].size;
        group.from.push_back(left[i++]);
      } else {
        right_count *= right[j].size;
        group.to.push_back(right[j++]);
      }
    }
    note_products(group.from);
    note_products(group.to);
    groups.push_back(std::move(group));
  }
  return groups;
}

// The dims that lie before `stop` must be whole.
void require_whole(const Side& side, const GroupDim& stop, bool is_output, RuleOptions& options) {
  for (const GroupDim& at : side) {
    if (at.dim == stop.dim) return;
    options.requirements.push_back({is_output, 0, at.dim, 0, at.size});
  }
}

Placement cut(const GroupDim& at, int64_t factor) {
  Placement placement = shard(at.dim);
  if (factor == 1) return placement;
  placement.kind = ONEDIM_PLACEMENT_STRIDED_SHARD;
  placement.split_factor = factor;
  return placement;
}

// A cut of `from` into blocks that are whole chunks of the strided one of `to`, either way round.
class GroupRules {
 public:
  GroupRules(RuleSink& rules, const Group& group) : rules_(rules), group_(group) {}

  void emit() {
    for (const GroupDim& from : group_.from) {
      for (const GroupDim& to : group_.to) {
        const bool both_first = from.outside == 1 && to.outside == 1;
        if (both_first || holds_blocks(to, from.outside, from))
          add(from, 1, to, from.outside / to.outside);
        else if (holds_blocks(from, to.outside, to))
          add(from, to.outside / from.outside, to, 1);
      }
    }
  }

 private:
  // Whether `outer`, cut strided, has the blocks that a plain cut of `inner` has: more than its own
  // dims before it make, each of more than one index.
  static bool holds_blocks(const GroupDim& outer, int64_t blocks, const GroupDim& inner) {
    if (blocks <= outer.outside || blocks % outer.outside != 0) return false;
    const int64_t factor = blocks / outer.outside;
    return factor < outer.size && outer.size % factor == 0 && inner.size > 1;
  }

  void add(const GroupDim& from, int64_t from_factor, const GroupDim& to, int64_t to_factor) {
    const Placement output = cut(to, to_factor), input = cut(from, from_factor);
    RuleOptions options;
    require_whole(group_.from, from, false, options);
    require_whole(group_.to, to, true, options);
    RuleOptions even = options;
    even.flags = ONEDIM_RULE_EVEN_ONLY;
    rules_.add(std::span(&output, 1), std::span(&input, 1), even);
    const int64_t common = std::lcm(from.inside, to.inside);
    add_multiple(options, false, from.dim, from_factor * (common / from.inside));
    add_multiple(options, true, to.dim, to_factor * (common / to.inside));
    rules_.add(std::span(&output, 1), std::span(&input, 1), options);
  }

  static void add_multiple(RuleOptions& options, bool is_output, int dim, int64_t multiple) {
    if (multiple > 1) options.requirements.push_back({is_output, 0, dim, 0, multiple});
  }

  RuleSink& rules_;
  const Group& group_;
};

bool is_empty(const Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

}  // namespace

void reshape_rules(RuleSink& rules, const Shape& from, const Shape& to) {
  if (from == to || is_empty(from)) {
    for (int dim = 0; from == to && dim < static_cast<int>(from.size()); ++dim) {
      const Placement same = any_shard(dim);
      rules.add(std::span(&same, 1), std::span(&same, 1));
    }
    return;
  }
  for (const Group& group : groups_of(from, to)) {
    if (group.from.size() == 1 && group.to.size() == 1) {
      const Placement output = any_shard(group.to[0].dim), input = any_shard(group.from[0].dim);
      rules.add(std::span(&output, 1), std::span(&input, 1));
    } else {
      GroupRules(rules, group).emit();
    }
  }
}

}  // namespace shape
