#include "families.hpp"

ONEDIM_PACK("custom", "0.1.0", [](onedim::api::Registrar& r) {
  custom::declare_attention(r);
  custom::declare_attributes(r);
  custom::declare_factories(r);
  custom::declare_positions(r);
  custom::declare_selections(r);
  custom::declare_statistics(r);
});
