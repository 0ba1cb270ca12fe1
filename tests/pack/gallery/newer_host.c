/* Needs more of the host than this one has; opening it would be seen. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  gallery_log("init newer_host");
  return gallery_register(host, registrar, "newer_host.copy(Tensor self) -> Tensor");
}

GALLERY_NOTE(ONEDIM_ABI_MAJOR, 99, 98)
GALLERY_ENTRY("newer_host", init, NULL)
