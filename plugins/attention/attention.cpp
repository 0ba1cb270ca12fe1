#include "backends.hpp"
#include "forward.hpp"

ONEDIM_PACK("attention", "1.0.0", [](onedim::api::Registrar& r) {
  attention::declare_partial_kind(r);
  attention::declare_backends(r);
});
