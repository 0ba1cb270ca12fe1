#include "families.hpp"

ONEDIM_PACK("matrix", "1.0.0", [](onedim::api::Registrar& r) {
  matrix::declare_products(r);
  matrix::declare_affine(r);
  matrix::declare_einsum(r);
  matrix::declare_scaled(r);
});
