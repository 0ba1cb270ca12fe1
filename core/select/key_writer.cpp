#include "core/select/key_writer.hpp"

#include <bit>
#include <cstring>

namespace onedim {
namespace {

// A placement in a byte.
constexpr uint64_t kFirstShard = 8, kFirstPartial = 128, kAtLength = 255;
// An order in 36 bits.
constexpr uint64_t kOrderAtLength = 15;

constexpr uint32_t letters(const char (&text)[4]) { return std::bit_cast<uint32_t>(text); }

inline uint64_t partial_byte(const std::string& kind) {
  if (kind.size() != 3) return kind == "product" ? kFirstPartial + 4 : kAtLength;
  uint32_t word = 0;
  std::memcpy(&word, kind.c_str(), sizeof(word));
  return word == letters("sum")   ? kFirstPartial
         : word == letters("avg") ? kFirstPartial + 1
         : word == letters("max") ? kFirstPartial + 2
         : word == letters("min") ? kFirstPartial + 3
                                  : kAtLength;
}

inline uint64_t byte_of(const Placement& placement) {
  switch (placement.kind) {
    case Placement::Kind::kReplicate:
      return 1;
    case Placement::Kind::kNone:
      return 2;
    case Placement::Kind::kShard: {
      const uint64_t byte = kFirstShard + static_cast<uint64_t>(placement.dim);
      return byte < kFirstPartial ? byte : kAtLength;
    }
    case Placement::Kind::kPartial:
      return placement.component == 0 ? partial_byte(placement.partial) : kAtLength;
    default:
      return kAtLength;
  }
}

struct PackedPlacements {
  uint64_t word = 0;
  bool all_fit = true;
};

// A byte each behind `word`, the last one lowest.
inline PackedPlacements pack(uint64_t word, std::span<const Placement> placements) {
  PackedPlacements packed{word};
  for (const Placement& placement : placements) {
    const uint64_t byte = byte_of(placement);
    packed.all_fit = packed.all_fit && byte != kAtLength;
    packed.word = packed.word << 8 | byte;
  }
  return packed;
}

// The number of mesh dims and the order in which they cut.
inline uint64_t order_bits(const Layout& layout) {
  if (layout.order.empty()) return std::min<uint64_t>(layout.placements.size(), kOrderAtLength);
  if (layout.placements.size() > 8 || layout.order.size() > 8) return kOrderAtLength;
  uint64_t order = 0, all = 0;
  for (const int64_t mesh_dim : layout.order) {
    all |= static_cast<uint64_t>(mesh_dim);
    order = order << 4 | static_cast<uint64_t>(mesh_dim + 1);
  }
  return all > 7 ? kOrderAtLength : order << 4 | layout.placements.size();
}

}  // namespace

void KeyWriter::flush() {
  if (key_.empty()) {
    key_.assign(words_.data(), words_.data() + count_);
  } else {
    key_.insert(key_.end(), words_.data(), words_.data() + count_);
  }
  count_ = 0;
}

void KeyWriter::add_each(std::span<const int64_t> numbers) {
  for (const int64_t number : numbers) add(static_cast<uint64_t>(number));
}

// Sizes below 2^32 take half a word; row-major strides are not said.
void KeyWriter::add(const TensorMeta& meta) {
  const size_t ndim = meta.shape.size();
  uint64_t expected = 1, all = 0;
  bool row_major = meta.strides.size() == ndim;
  for (size_t dim = ndim; row_major && dim-- > 0;) {
    const auto size = static_cast<uint64_t>(meta.shape[dim]);
    row_major = static_cast<uint64_t>(meta.strides[dim]) == expected;
    all |= size;
    if (size != 0) expected *= size;
  }
  const bool is_usual = row_major && all >> 32 == 0;
  add(1 | uint64_t{is_usual} << 1 | static_cast<uint64_t>(meta.dtype) << 8 | ndim << 16);
  if (!is_usual) {
    add_each(meta.shape);
    add_each(meta.strides);
    return;
  }
  size_t dim = 0;
  for (; dim + 1 < ndim; dim += 2)
    add(static_cast<uint64_t>(meta.shape[dim]) << 32 | static_cast<uint64_t>(meta.shape[dim + 1]));
  if (dim < ndim) add(static_cast<uint64_t>(meta.shape[dim]));
}

// Up to six usual placements in the usual order take one word.
void KeyWriter::add(const Layout& layout) {
  const uint64_t order = order_bits(layout);
  const size_t count = layout.placements.size();
  if (layout.order.empty() && count <= 6) {
    const PackedPlacements packed = pack(count, layout.placements);
    if (packed.all_fit) return add(packed.word << 8 | 1);
  }
  add(order << 8 | 2);
  if (order == kOrderAtLength) {
    add(count);
    add(layout.order.size());
    add_each(layout.order);
  }
  add(std::span<const Placement>(layout.placements));
}

void KeyWriter::add(std::span<const Placement> placements) {
  for (size_t at = 0; at < placements.size(); at += 8) {
    const std::span<const Placement> some =
        placements.subspan(at, std::min<size_t>(8, placements.size() - at));
    const PackedPlacements packed = pack(0, some);
    add(packed.word);
    if (packed.all_fit) continue;
    for (const Placement& placement : some) {
      if (byte_of(placement) == kAtLength) add_at_length(placement);
    }
  }
}

void KeyWriter::add_at_length(const Placement& placement) {
  add(static_cast<uint64_t>(placement.kind) | static_cast<uint64_t>(placement.dim) << 32);
  add(static_cast<uint64_t>(placement.split_factor));
  add(static_cast<uint64_t>(placement.component));
  add(std::string_view(placement.partial));
}

// Its length, then its bytes.
void KeyWriter::add(std::string_view text) {
  add(text.size());
  for (size_t at = 0; at < text.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min(sizeof(word), text.size() - at));
    add(word);
  }
}

void KeyWriter::add(const Value& value) {
  const uint64_t type = value.data.index();
  if (const bool* flag = value.get_if<bool>()) return add(type | uint64_t{*flag} << 8);
  if (const DType* dtype = value.get_if<DType>())
    return add(type | static_cast<uint64_t>(*dtype) << 8);
  if (const ValueList* list = value.get_if<ValueList>()) {
    add(type | list->size() << 8);
    for (const Value& item : *list) add(item);
    return;
  }
  add(type);
  if (const int64_t* number = value.get_if<int64_t>()) add(static_cast<uint64_t>(*number));
  if (const double* number = value.get_if<double>()) add(std::bit_cast<uint64_t>(*number));
  if (const auto* number = value.get_if<std::complex<double>>()) {
    add(std::bit_cast<uint64_t>(number->real()));
    add(std::bit_cast<uint64_t>(number->imag()));
  }
  if (const std::string* text = value.get_if<std::string>()) add(std::string_view(*text));
}

}  // namespace onedim
