#pragma once
// The loops of convert.hpp, dense.hpp and elementwise.hpp by name, where they are compiled once for
// all packs (inline.hpp): sources that define ONEDIM_COMPILED take them from the library, whose
// source defines ONEDIM_COMPILING. Without either, each source compiles the loops that it uses.

#include <onedim/elementwise.hpp>

#if defined(ONEDIM_COMPILING)
#define ONEDIM_LOOPS template
#elif defined(ONEDIM_COMPILED)
#define ONEDIM_LOOPS extern template
#endif

#ifdef ONEDIM_LOOPS
#define ONEDIM_LOOPS_OF(C)                                                                   \
  ONEDIM_LOOPS void load_row<C>(DType, const std::byte*, int64_t, int64_t, C*);              \
  ONEDIM_LOOPS void store_row<C>(DType, const C*, int64_t, int64_t, std::byte*);             \
  ONEDIM_LOOPS std::vector<C> load_dense<C>(const TensorView&);                              \
  ONEDIM_LOOPS void store_dense<C>(const C*, const TensorView&);                             \
  ONEDIM_LOOPS void map_rows<C>(const TensorView&, std::span<const Operand>, RowFunction<C>, \
                                const void*, DType)
namespace onedim::api {
ONEDIM_LOOPS_OF(float);
ONEDIM_LOOPS_OF(double);
ONEDIM_LOOPS_OF(int64_t);
ONEDIM_LOOPS_OF(std::complex<float>);
ONEDIM_LOOPS_OF(std::complex<double>);
}  // namespace onedim::api
#undef ONEDIM_LOOPS_OF
#undef ONEDIM_LOOPS
#endif
