#pragma once
// Random meshes, tensors and pairs of layouts for the redistribution tests.

#include <algorithm>
#include <random>

#include "core/layout/layout.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

class PairDraw {
 public:
  explicit PairDraw(uint64_t seed) : random_(seed) {}

  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  Mesh mesh(int least_ndim, int most_ndim, int64_t most_size = 4) {
    static constexpr std::array<const char*, 4> kNames = {"a", "b", "c", "d"};
    std::vector<std::string> names;
    Dims sizes;
    const int64_t ndim = number(least_ndim, most_ndim);
    for (int64_t i = 0; i < ndim; ++i) {
      names.emplace_back(kNames[i]);
      sizes.push_back(number(0, 9) == 0
                          ? 1
                          : number(2, ndim > 2 ? std::min<int64_t>(3, most_size) : most_size));
    }
    return *Mesh::create(std::move(names), std::move(sizes));
  }

  Dims shape(int least_ndim, int most_ndim, int64_t most_size) {
    Dims shape(number(least_ndim, most_ndim));
    for (int64_t& size : shape) size = number(1, most_size);
    return shape;
  }

  DType dtype() {
    static constexpr std::array<DType, 8> kTypes = {DType::kF32, DType::kF64,  DType::kI32,
                                                    DType::kI64, DType::kBF16, DType::kI8,
                                                    DType::kC64, DType::kBool};
    return kTypes[number(0, kTypes.size() - 1)];
  }

  std::string partial_kind(DType dtype) {
    static constexpr std::array<const char*, 5> kKinds = {"sum", "avg", "max", "min", "product"};
    while (true) {
      const std::string kind = kKinds[number(0, 4)];
      if (is_legal_partial(kind, dtype)) return kind;
    }
  }

  // Any R, S, P, in any order of cuts; SS too if asked for.
  Layout layout(const Mesh& mesh, int ndim, DType dtype, bool with_strided) {
    Layout layout = Layout::replicated(mesh.ndim());
    const std::string kind = partial_kind(dtype);
    for (Placement& placement : layout.placements) {
      const int64_t choice = number(0, with_strided ? 6 : 5);
      if (choice >= 2 && choice <= 4 && ndim > 0) {
        placement = Placement::shard(static_cast<int>(number(0, ndim - 1)));
      } else if (choice == 5) {
        const bool mixes = (kind == "sum" || kind == "avg") && is_legal_partial("avg", dtype);
        placement = Placement::make_partial(mixes && number(0, 2) == 0 ? "avg" : kind);
      } else if (choice == 6 && ndim > 0) {
        placement = Placement::strided_shard(static_cast<int>(number(0, ndim - 1)), number(2, 4));
      }
    }
    for (int dim = 0; dim < ndim; ++dim) {
      Dims order = layout.shard_order(dim);
      std::shuffle(order.begin(), order.end(), random_);
      layout.set_shard_order(dim, order);
    }
    return layout;
  }

  std::mt19937_64& random() { return random_; }

 private:
  std::mt19937_64 random_;
};

}  // namespace onedim
