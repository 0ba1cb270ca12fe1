#include "core/base/scanner.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {
namespace {

Result<int64_t> parse_size(Scanner& scanner) {
  scanner.peek();
  const size_t begin = scanner.position();
  Result<int64_t> size = scanner.integer();
  if (!size.ok()) return size.status();
  if (*size < 0)
    return scanner.error_at(begin, fmt::format("size {} is negative, expected 0 or more", *size));
  return size;
}

}  // namespace

std::string format_meta(const TensorMeta& meta) {
  return fmt::format("{}{}", name_of(meta.dtype), format_dims(meta.shape));
}

Result<TensorMeta> parse_meta(std::string_view text) {
  Scanner scanner(text);
  scanner.peek();
  const size_t begin = scanner.position();
  const std::string_view name = scanner.word();
  if (name.empty()) return scanner.error("expected a tensor such as f32[4,6]");
  const Result<DType> dtype = parse_dtype(name);
  if (!dtype.ok()) return scanner.error_at(begin, message_of(dtype.status()));
  if (!scanner.accept("[")) return scanner.error("expected \"[\" and the sizes, such as f32[4,6]");
  Dims shape;
  while (!scanner.accept("]")) {
    if (!shape.empty() && !scanner.accept(",")) return scanner.error("expected \",\" or \"]\"");
    const Result<int64_t> size = parse_size(scanner);
    if (!size.ok()) return size.status();
    shape.push_back(*size);
  }
  if (!scanner.at_end()) return scanner.error("unexpected text behind the tensor");
  const int64_t count = checked_volume(shape);
  if (count < 0 || count > (int64_t{1} << 62) / size_of(*dtype)) {
    return scanner.error_at(begin,
                            "the tensor is too large to describe, expected at most 2^62 bytes");
  }
  return TensorMeta::contiguous(*dtype, std::move(shape));
}

}  // namespace onedim
