#include "families.hpp"

ONEDIM_PACK("random", "1.0.0", [](onedim::api::Registrar& r) {
  random_numbers::declare_distributions(r);
  random_numbers::declare_bernoulli(r);
  random_numbers::declare_sizes(r);
});
