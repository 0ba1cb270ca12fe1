#pragma once
// The families of random ops. Every element draws from Philox 4x32-10 with the key (seed, call id)
// and its row-major index in the global tensor as the counter, so the global values are the same
// under every layout, on any mesh.
//   rand_like(f32[4]) as S(0) over 2 ranks: rank 1 draws with the counters 2 and 3

#include <onedim/memory_format.hpp>
#include <onedim/pack.hpp>
#include <onedim/positions.hpp>
#include <onedim/unread.hpp>

#include <cmath>

namespace random_numbers {

using namespace onedim::api;

void declare_distributions(Registrar& r);  // uniform, normal, ... over a tensor and like one
void declare_bernoulli(Registrar& r);      // coins of given probabilities, dropout
void declare_sizes(Registrar& r);          // rand, randn, randint, randperm

// What one element draws.
class Draw {
 public:
  explicit Draw(const std::array<uint32_t, 4>& words) : words_(words) {}
  // In [0, 1), with as many random bits as `dtype` can hold there.
  double uniform(DType dtype = DType::kF64) const;
  double normal() const { return radius() * std::cos(angle()); }
  std::complex<double> complex_normal() const {
    return std::polar(radius() / std::sqrt(2.0), angle());
  }
  // In [0, range), range 0 standing for 2^64.
  uint64_t integer(uint64_t range) const;

 private:
  // Box and Muller: the polar form of two independent normal numbers.
  double radius() const { return std::sqrt(-2 * std::log1p(-uniform())); }
  double angle() const;
  std::array<uint32_t, 4> words_;
};

// f(draw) for every element of an output, in row-major order.
template <typename F>
auto draw_elements(const Call& call, int slot, F f) {
  std::vector<decltype(f(Draw({})))> values;
  for (const int64_t index : global_linear_indices(call, slot))
    values.push_back(f(Draw(philox(call.seed(), call.call_id(), static_cast<uint64_t>(index)))));
  return values;
}

// How a distribution fills an output, for a call whose parameters it has checked.
using FillFn = std::function<void(const Call&)>;

// In the shape of self, of its dtype or the one given.
void infer_like(const Call& call, OutputSink& outputs);

inline DType dtype_or(const Call& call, DType otherwise) {
  return call.has_attribute("dtype") ? call.attribute<DType>("dtype") : otherwise;
}

// Fills for the three plain families, also by size.
void fill_uniform(const Call& call, double from, double to);
void fill_normal(const Call& call, double mean, double deviation);
void fill_integers(const Call& call, int64_t low, int64_t high);

}  // namespace random_numbers
