/* Nothing is wrong with it. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  gallery_log("init alpha");
  return gallery_register(host, registrar, "alpha.copy(Tensor self) -> Tensor");
}

static void shutdown(void) { gallery_log("shutdown alpha"); }

GALLERY_NOTE(ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR, ONEDIM_ABI_MINOR)
GALLERY_ENTRY("alpha", init, shutdown)
