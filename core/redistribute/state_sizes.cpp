#include "core/redistribute/state_sizes.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 62;

int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMostBytes : product;
}

// Per tensor dim and place in its cutting order, the mesh dim that cuts.
struct Cutters {
  std::array<std::array<int8_t, 8>, 32> at;
  std::array<uint8_t, 32> count{};
};

// The longest local length of a dim of `length`; notes what its cuts do.
int64_t cut_dim(const Alphabet& alphabet, std::span<const int8_t> cutters, int64_t length,
                Policy policy, StateCode code, StateSizes& sizes) {
  size_t next = 0;
  // While cuts divide, all ranks have one length.
  for (; next < cutters.size(); ++next) {
    const int8_t i = cutters[next];
    const int64_t parts = alphabet.size(i);
    const int64_t factor = alphabet.split_factor(Alphabet::symbol_of(code, i));
    if (factor != 1 || length % parts != 0 || length == 0) break;
    length /= parts;
  }
  if (next == cutters.size()) return length;
  CutLengths lengths(length);
  for (; next < cutters.size(); ++next) {
    const int8_t i = cutters[next];
    const int64_t factor = alphabet.split_factor(Alphabet::symbol_of(code, i));
    const CutEffect effect = lengths.cut({alphabet.size(i), factor});
    if (!effect.divides) sizes.uneven |= static_cast<uint8_t>(1 << i);
    if (!allows(policy, effect)) sizes.is_allowed = false;
  }
  return lengths.longest();
}

}  // namespace

StateSizes measure_state(const Alphabet& alphabet, std::span<const GroupMember> group,
                         Policy policy, StateCode code) {
  Cutters cutters;
  for (int i = 0; i < alphabet.mesh_ndim(); ++i) {
    const int symbol = Alphabet::symbol_of(code, i);
    if (!alphabet.is_shard(symbol)) continue;
    const int dim = alphabet.tensor_dim(symbol);
    cutters.at[dim][Alphabet::place_of(code, i)] = static_cast<int8_t>(i);
    ++cutters.count[dim];
  }
  StateSizes sizes;
  sizes.bytes = 0;
  sizes.units = ~UnitDims{0};
  uint32_t cut_dims = 0, unit_dims = ~uint32_t{0};  // of all members
  for (const GroupMember& member : group) {
    int64_t count = member.element_size;
    UnitDims longer = 0;
    StateSizes of_member = sizes;
    for (size_t dim = 0; dim < member.shape.size(); ++dim) {
      int64_t length = member.shape[dim];
      if (dim < 32 && length != 1) unit_dims &= ~(uint32_t{1} << dim);
      if (dim < 32 && cutters.count[dim] != 0) cut_dims |= uint32_t{1} << dim;
      if (dim < 32 && cutters.count[dim] != 0) {
        length = cut_dim(alphabet, std::span(cutters.at[dim]).first(cutters.count[dim]), length,
                         policy, code, of_member);
      }
      if (dim < 32 && length > 1) longer |= UnitDims{1} << dim;
      count = multiply(count, length);
    }
    sizes.uneven = of_member.uneven;
    if (count != 0) sizes.is_allowed = of_member.is_allowed;
    sizes.units &= ~longer;
    sizes.bytes = std::min(kMostBytes, sizes.bytes + count);
  }
  if (sizes.bytes != 0 && (cut_dims & unit_dims) != 0) sizes.is_allowed = false;  // that is R
  return sizes;
}

}  // namespace onedim
