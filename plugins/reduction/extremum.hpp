#pragma once
// What "better" means to the ops that look for the largest or smallest element. NaN beats
// everything, as in ATen. Ties between equal elements go to the lower index, in the kernels as in
// the joint partials, so the merge over ranks is associative and commutative.

#include <cmath>
#include <limits>

#include "families.hpp"

namespace reduction {

enum class Extremum { kMax, kMin };

template <Extremum kWhich, typename C>
bool is_better(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return kWhich == Extremum::kMax ? a > b : a < b;
}

// The value that every element of `dtype` beats or equals.
template <Extremum kWhich, typename C>
C worst_of(DType dtype) {
  constexpr bool kLowest = kWhich == Extremum::kMax;
  if constexpr (std::is_floating_point_v<C>) {
    return kLowest ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::infinity();
  } else {
    if (dtype == DType::kBool) return kLowest ? 0 : 1;
    if (dtype == DType::kU8) return kLowest ? 0 : 255;
    const int shift = static_cast<int>(64 - 8 * size_of(dtype));
    return (kLowest ? INT64_MIN : INT64_MAX) >> shift;
  }
}

// A shard may be empty, the global tensor may not.
inline void require_elements(const Call& call, const std::vector<bool>& reduced) {
  for (size_t dim = 0; dim < reduced.size(); ++dim) {
    if (reduced[dim] && call.global_size(false, 0, static_cast<int>(dim)) == 0) {
      fail("dim " + std::to_string(dim) + " to be reduced is empty, expected at least one element");
    }
  }
}

// The best elements and where they stand in the global tensor: along the reduced dims, in row-major
// order.
template <typename C>
struct Best {
  std::vector<C> values;
  std::vector<int64_t> indices;
};

// Global positions of one dim's local indices, times the dim's step.
inline std::vector<int64_t> positions(const Call& call, int dim, int64_t step) {
  std::vector<int64_t> at(static_cast<size_t>(call.input(0).size(dim)));
  for (size_t i = 0; i < at.size(); ++i) {
    at[i] = step * call.global_index(false, 0, dim, static_cast<int64_t>(i));
  }
  return at;
}

template <Extremum kWhich, typename C>
Best<C> find_best(const Call& call, const std::vector<bool>& reduced) {
  const TensorView self = call.input(0);
  const int ndim = self.ndim();
  std::vector<std::vector<int64_t>> index_of(static_cast<size_t>(ndim));
  std::array<int64_t, kMaxDims> steps{};
  int64_t kept = 1, step = 1;
  for (int dim = ndim - 1; dim >= 0; --dim) {
    if (reduced[dim]) {
      index_of[dim] = positions(call, dim, step);
      step *= call.global_size(false, 0, dim);
    } else {
      index_of[dim].assign(static_cast<size_t>(self.size(dim)), 0);
      steps[dim] = kept;
      kept *= self.size(dim);
    }
  }
  Best<C> best{std::vector<C>(static_cast<size_t>(kept), worst_of<kWhich, C>(self.dtype())),
               std::vector<int64_t>(static_cast<size_t>(kept), INT64_MAX)};
  const std::vector<C> values = load_dense<C>(self);
  const C* value = values.data();
  for_each_indexed_row(self, [&](const auto& outer, int64_t, int64_t count, int64_t) {
    int64_t to = 0, index = 0;
    for (int dim = 0; dim + 1 < ndim; ++dim) {
      to += outer[dim] * steps[dim];
      index += index_of[dim][static_cast<size_t>(outer[dim])];
    }
    for (int64_t i = 0; i < count; ++i, ++value) {
      const int64_t at = ndim > 0 ? index + index_of[ndim - 1][static_cast<size_t>(i)] : 0;
      const int64_t slot = ndim > 0 ? to + i * steps[ndim - 1] : 0;
      if (is_better<kWhich>(best.values[slot], *value)) continue;
      if (!is_better<kWhich>(*value, best.values[slot]) && best.indices[slot] <= at) continue;
      best.values[slot] = *value;
      best.indices[slot] = at;
    }
  });
  return best;
}

// The joint state (value, index) as tensors.
inline void store_state(States states, const auto& best) {
  store_dense(best.values.data(), TensorView(&states[0]));
  store_dense(best.indices.data(), TensorView(&states[1]));
}

// Identity and merge of (value, index), shared by the joint partials of this pack.
template <Extremum kWhich>
PartialBuilder& declare_best(Registrar& r, std::string_view name,
                             std::vector<std::string> components) {
  const auto typed = [](DType dtype, auto f) {
    with_compute_type<float, double, int64_t>(dtype, f);
  };
  const auto load = []<typename C>(States states, C) {
    return Best<C>{load_dense<C>(TensorView(&states[0])),
                   load_dense<int64_t>(TensorView(&states[1]))};
  };
  return r.partial(name, std::move(components))
      .identity([typed](States states) {
        const TensorView values(&states[0]);
        const auto count = static_cast<size_t>(values.element_count());
        typed(values.dtype(), [&]<typename C>(C) {
          store_state(states, Best<C>{std::vector<C>(count, worst_of<kWhich, C>(values.dtype())),
                                      std::vector<int64_t>(count, INT64_MAX)});
        });
      })
      .combine([typed, load](States into, States from) {
        typed(TensorView(&into[0]).dtype(), [&]<typename C>(C zero) {
          Best<C> best = load(into, zero);
          const Best<C> other = load(from, zero);
          for (size_t i = 0; i < best.values.size(); ++i) {
            if (is_better<kWhich>(best.values[i], other.values[i])) continue;
            const bool ties = !is_better<kWhich>(other.values[i], best.values[i]);
            if (ties && best.indices[i] <= other.indices[i]) continue;
            best.values[i] = other.values[i];
            best.indices[i] = other.indices[i];
          }
          store_state(into, best);
        });
      });
}

}  // namespace reduction
