// Views and data movement: y[i] = x[m(i)] for a map m of indices, or a constant where m has no
// value. No element is computed, so every partial kind passes, and a shard passes wherever m takes
// what one rank owns of y to what the same rank owns of x.
//   permute f32[4,6] to f32[6,4] takes S(0) to S(1); view f32[4,6] as f32[24] takes S(1) to
//   SS(0,4); select.int takes one row of S(0), which one rank has and the others do not: P(sum).

#include "families.hpp"

ONEDIM_PACK("shape", "1.0.0", [](onedim::api::Registrar& r) {
  shape::declare_passing(r);
  shape::declare_reinterpretations(r);
  shape::declare_reshapes(r);
  shape::declare_dims(r);
  shape::declare_expansions(r);
  shape::declare_slices(r);
  shape::declare_scatters(r);
  shape::declare_joins(r);
  shape::declare_splits(r);
  shape::declare_tiles(r);
  shape::declare_padding(r);
  shape::declare_diagonals(r);
  shape::declare_triangles(r);
});
