#include "families.hpp"

ONEDIM_PACK("indexing", "1.0.0", [](onedim::api::Registrar& r) {
  indexing::declare_embedding(r);
  indexing::declare_gathers(r);
  indexing::declare_scatters(r);
  indexing::declare_index_lists(r);
  indexing::declare_index_updates(r);
  indexing::declare_linear(r);
  indexing::declare_search(r);
});
