#include "core/layout/memory_order.hpp"

#include "core/base/scanner.hpp"
#include "core/base/text.hpp"

namespace onedim {

Dims strides_with_outermost(const Dims& shape, int outermost) {
  Dims strides(shape.size(), 1);
  int64_t next = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (static_cast<int>(dim) == outermost) continue;
    strides[dim] = next;
    next *= std::max<int64_t>(1, shape[dim]);
  }
  if (!shape.empty()) strides[outermost] = next;
  return strides;
}

bool lies_with_outermost(const Dims& shape, const Dims& strides, int outermost) {
  if (volume(shape) == 0) return true;
  const Dims dense = strides_with_outermost(shape, outermost);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] > 1 && strides[dim] != dense[dim]) return false;
  }
  return true;
}

Result<LayoutAndOrder> split_memory_order(std::string_view text, int ndim) {
  const size_t at = text.find("outermost");
  if (at == std::string_view::npos) return LayoutAndOrder{text, 0};
  Scanner scanner(text);
  scanner.move_to(at + std::string_view("outermost").size());
  if (Status status = scanner.expect("("); !status.ok()) return status;
  scanner.peek();
  const size_t begin = scanner.position();
  const Result<int64_t> dim = scanner.integer();
  if (!dim.ok()) return dim.status();
  if (*dim < 0 || *dim >= ndim) {
    return scanner.error_at(
        begin, fmt::format("outermost dim {} is not a dim of a tensor of {}", *dim, ndim));
  }
  if (Status status = scanner.expect(")"); !status.ok()) return status;
  if (!scanner.at_end()) return scanner.error("unexpected text behind outermost(..)");
  return LayoutAndOrder{trim(text.substr(0, at)), static_cast<int>(*dim)};
}

}  // namespace onedim
