#pragma once
// Alphabet: the placements that the states of one search are made of, and the code of a state: one
// byte per mesh dim of size above 1, the first mesh dim in the highest byte; five bits name the
// symbol, three its place in the cutting order of its tensor dim. Symbols are numbered in text
// order (P, R, S, SS), so codes compare roughly as the layouts' texts do. Mesh dims of size 1 are
// R.

#include <absl/container/inlined_vector.h>

#include <array>
#include <optional>

#include "core/layout/overlap.hpp"

namespace onedim {

using StateCode = uint64_t;

class Alphabet {
 public:
  // `kinds` are partial kinds; `layouts` give their strided shards to the mesh dims where they
  // stand. With `only_given`, a mesh dim may take R and what it has in `layouts`, nothing else.
  // Refused if there are more than 32 symbols.
  static Result<Alphabet> create(const Mesh& mesh, int tensor_ndim, std::vector<std::string> kinds,
                                 std::span<const Layout* const> layouts, bool only_given = false);

  int mesh_ndim() const { return static_cast<int>(mesh_dims_.size()); }  // of size above 1
  int tensor_ndim() const { return tensor_ndim_; }
  // The mesh's own number of the i-th mesh dim of a code, and its size.
  int mesh_dim(int i) const { return mesh_dims_[i]; }
  std::span<const int> mesh_dims() const { return mesh_dims_; }
  int64_t size(int i) const { return sizes_[i]; }
  int full_mesh_ndim() const { return full_mesh_ndim_; }

  int symbol_count() const { return static_cast<int>(symbols_.size()); }
  const Placement& symbol(int s) const { return symbols_[s]; }
  int replicate() const { return kind_count_; }
  bool is_partial(int s) const { return s < kind_count_; }
  bool is_shard(int s) const { return s > kind_count_; }
  bool is_strided(int s) const { return s > kind_count_ + tensor_ndim_; }
  int tensor_dim(int s) const { return dims_[s]; }  // of a shard
  // Whether the partial s is the partial `other`, or becomes it by a local step (sum with avg).
  bool is_partial_like(int s, int other) const {
    return s == other || ((linear_ >> s & linear_ >> other & 1) != 0);
  }
  int64_t split_factor(int s) const { return split_factors_[s]; }
  bool has_strided() const { return symbol_count() > kind_count_ + 1 + tensor_ndim_; }
  // Whether mesh dim i may take symbol s.
  bool allows(int i, int s) const { return (allowed_[i] >> s & 1) != 0; }

  // Nothing where a placement of the layout is no symbol here.
  std::optional<StateCode> encode(const Layout& layout) const;
  Layout decode(StateCode code) const;
  TensorCuts cuts(StateCode code) const;  // mesh dims numbered as in codes
  // The mesh dims whose cuts both states have, with all cuts of their tensor dims before them.
  uint32_t common_cuts(StateCode a, StateCode b) const;

  static int byte_of(StateCode code, int i) {
    return static_cast<int>(code >> (56 - 8 * i) & 0xff);
  }
  static int symbol_of(StateCode code, int i) { return byte_of(code, i) >> 3; }
  static int place_of(StateCode code, int i) { return byte_of(code, i) & 7; }
  static StateCode entry(int i, int symbol, int place) {
    return static_cast<StateCode>(symbol << 3 | place) << (56 - 8 * i);
  }

 private:
  // The symbol of a placement, -1 if there is none.
  int find_symbol(const Placement& placement) const;

  absl::InlinedVector<int, 8> mesh_dims_;
  Dims sizes_;
  int full_mesh_ndim_ = 0;
  int tensor_ndim_ = 0;
  int kind_count_ = 0;
  uint32_t linear_ = 0;  // partial symbols
  std::vector<Placement> symbols_;
  std::array<int8_t, 32> dims_{};
  std::array<int64_t, 32> split_factors_{};
  std::array<uint32_t, 8> allowed_{};
};

// The partial kinds of both layouts, each once, in text order.
std::vector<std::string> partial_kinds(const Layout& a, const Layout& b);

}  // namespace onedim
