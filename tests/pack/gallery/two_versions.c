/* The note and the entry disagree. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  return gallery_register(host, registrar, "two_versions.copy(Tensor self) -> Tensor");
}

GALLERY_NOTE(ONEDIM_ABI_MAJOR, 7, 0)
GALLERY_ENTRY("two_versions", init, NULL)
