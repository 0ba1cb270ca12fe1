#include "families.hpp"

ONEDIM_PACK("reduction", "1.1.0", [](onedim::api::Registrar& r) {
  reduction::declare_sums(r);
  reduction::declare_sum_variants(r);
  reduction::declare_extrema(r);
  reduction::declare_logical(r);
  reduction::declare_scans(r);
  reduction::declare_extremum_scans(r);
  reduction::declare_log_sums(r);
  reduction::declare_moments(r);
  reduction::declare_norms(r);
  reduction::declare_sorting(r);
  reduction::declare_selection(r);
  reduction::declare_numbers(r);
});
