#include "families.hpp"

ONEDIM_PACK("optim", "0.1.0", [](onedim::api::Registrar& r) {
  optim::declare_adam(r);
  optim::declare_unscale(r);
});
