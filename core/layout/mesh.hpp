#pragma once
// Mesh: the N-D grid of ranks. The first mesh dim is outermost: ranks are numbered row-major over
// the coordinates. Invariant: 1 to 8 dims, distinct names, sizes >= 1, at most 2^20 ranks.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dims.hpp"
#include "core/base/status.hpp"

namespace onedim {

class Mesh {
 public:
  static Result<Mesh> create(std::vector<std::string> names, Dims sizes);
  // `dp=8,tp=4`.
  static Result<Mesh> parse(std::string_view text);
  // A mesh of one dim `x`; `size` >= 1.
  static Mesh line(int64_t size);

  int ndim() const { return static_cast<int>(sizes_.size()); }
  const Dims& sizes() const { return sizes_; }
  int64_t size(int mesh_dim) const { return sizes_[mesh_dim]; }
  const std::string& name(int mesh_dim) const { return names_[mesh_dim]; }
  const std::vector<std::string>& names() const { return names_; }
  int64_t rank_count() const { return volume(sizes_); }
  std::optional<int> find(std::string_view name) const;

  Dims coordinate_of(int64_t rank) const;
  int64_t rank_of(const Dims& coordinate) const;
  std::string format() const;
  bool operator==(const Mesh&) const = default;

 private:
  std::vector<std::string> names_;
  Dims sizes_;
};

}  // namespace onedim
