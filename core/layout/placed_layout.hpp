#pragma once
// Placed layout: a layout with the order in which its local tensors lie in memory. Text:
// `S(0),R outermost(1)`; without ` outermost(..)` local tensors are row-major. Whatever reads or
// prints the layout of a tensor that is there already, reads and prints this.

#include <string>
#include <string_view>

#include "core/layout/layout.hpp"

namespace onedim {

struct PlacedLayout {
  Layout layout;
  int outermost = 0;  // a tensor dim; see memory_order.hpp
  bool operator==(const PlacedLayout&) const = default;
};

// As parse_layout; a dim that a tensor of `ndim` dims does not have is an error.
Result<PlacedLayout> parse_placed_layout(std::string_view text, const Mesh& mesh, int ndim);

// Row-major is not printed.
std::string format_placed_layout(const Layout& layout, int outermost, const Mesh& mesh);

}  // namespace onedim
