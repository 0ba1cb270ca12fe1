#include "families.hpp"

ONEDIM_PACK("reduction", "1.0.0", [](onedim::api::Registrar& r) {
  reduction::declare_sums(r);
  reduction::declare_extrema(r);
  reduction::declare_logical(r);
});
