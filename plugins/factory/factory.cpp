#include "families.hpp"

ONEDIM_PACK("factory", "1.0.0", [](onedim::api::Registrar& r) {
  factory::declare_fills(r);
  factory::declare_sequences(r);
});
