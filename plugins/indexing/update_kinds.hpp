#pragma once
// Which partials an updating op lets through, from what `op` is for the output's dtype:
//
//   replace    picks one value, so it commutes with every join of old and items together
//   add, mean  linear in both, increasing in each
//   multiply   a homomorphism of products; linear in the old value
//   max, min   their own join, and increasing in each
//
// Where every element that is written starts anew and no two items meet in one, all of them pick.
// scatter_reduce(sum): both P(sum) or P(avg); old alone P(max), P(min); with one item an element
// and without the old value all five, old and items together.

#include "updating.hpp"

#include <optional>

namespace indexing {

using Kinds = std::vector<std::string_view>;

// What passes: both partial, the old alone, the items alone. Items that are a number are constant.
struct Passes {
  Kinds both, base, items;
};

class UpdateKinds {
 public:
  UpdateKinds(const Call& call, const IndexSpace& space, const Update& update);

  Passes passes() const;
  // The items' kind that goes with this one of the output where they are partial alone.
  std::string_view items_in(std::string_view out) const;

  // Of the output and the old value where index tensors are cut: some ranks write an element, the
  // others keep it.
  Kinds of_cut_places() const;
  // Of the output where one rank at most writes an element and all hold the same old value: it
  // wins where it moves one way only.
  Kinds of_one_way() const;
  // Of the output where only items are cut; `on_one_rank`: all items of an element together.
  Kinds of_cut_items(bool on_one_rank) const;

 private:
  double real_number() const;
  bool is_number(double value) const;
  Kinds absorbed_by_number() const;
  Kinds kinds_of_lone_item() const;
  Kinds joining() const;
  Kinds monotone_in_old(bool nonnegative_items) const;
  Kinds monotone_in_item() const;
  Kinds passing_number() const;

  DType dtype_;
  Combine combine_;
  bool has_base_;
  bool is_injective_;
  bool is_new_ = false;   // old values do not count where items are written
  bool is_copy_ = false;  // every element of the output is an old one or one item
  bool is_negated_;
  std::optional<onedim_value_t> number_;
};

}  // namespace indexing
