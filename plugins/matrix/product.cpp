#include "product.hpp"

#include <dnnl.h>

#include <algorithm>

// Of the OpenMP runtime; its header comes with compilers that support OpenMP only.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int count);

namespace matrix {
namespace {

// Below it a plain loop beats the library's start-up.
constexpr int64_t kLibraryWork = int64_t{32} * 32 * 32;

// Bounds the OpenMP threads that oneDNN takes when called from this thread.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(std::max(threads, 1));
  }
  ~ThreadLimit() { omp_set_num_threads(before_); }
  ThreadLimit(const ThreadLimit&) = delete;

 private:
  int before_;
};

// out += a b; blocks of b stay in cache while the rows of a pass.
template <typename C>
void multiply_plain(const C* a, const C* b, C* out, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kRows = 64, kColumns = 512;
  for (int64_t p0 = 0; p0 < k; p0 += kRows) {
    const int64_t p1 = std::min(p0 + kRows, k);
    for (int64_t j0 = 0; j0 < n; j0 += kColumns) {
      const int64_t j1 = std::min(j0 + kColumns, n);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t p = p0; p < p1; ++p) {
          const C factor = a[i * k + p];
          const C* __restrict from = b + p * n;
          C* __restrict to = out + i * n;
          for (int64_t j = j0; j < j1; ++j) to[j] = plus(to[j], times(factor, from[j]));
        }
      }
    }
  }
}

}  // namespace

template <typename C>
void multiply(const C* a, const C* b, C* out, int64_t batch, int64_t m, int64_t n, int64_t k,
              int threads) {
  std::fill(out, out + batch * m * n, C(0));
  if constexpr (std::is_same_v<C, float>) {
    if (m * n * k >= kLibraryWork) {
      const ThreadLimit limit(threads);
      for (int64_t i = 0; i < batch; ++i) {
        const dnnl_status_t status = dnnl_sgemm('N', 'N', m, n, k, 1.0f, a + i * m * k, k,
                                                b + i * k * n, n, 0.0f, out + i * m * n, n);
        if (status != dnnl_success) fail("oneDNN refused the product", ONEDIM_STATUS_INTERNAL);
      }
      return;
    }
  }
  static_cast<void>(threads);
  for (int64_t i = 0; i < batch; ++i)
    multiply_plain(a + i * m * k, b + i * k * n, out + i * m * n, m, n, k);
}

template void multiply(const float*, const float*, float*, int64_t, int64_t, int64_t, int64_t, int);
template void multiply(const double*, const double*, double*, int64_t, int64_t, int64_t, int64_t,
                       int);
template void multiply(const int64_t*, const int64_t*, int64_t*, int64_t, int64_t, int64_t, int64_t,
                       int);
template void multiply(const std::complex<float>*, const std::complex<float>*, std::complex<float>*,
                       int64_t, int64_t, int64_t, int64_t, int);
template void multiply(const std::complex<double>*, const std::complex<double>*,
                       std::complex<double>*, int64_t, int64_t, int64_t, int64_t, int);

}  // namespace matrix
