/* The library whose entry foreign_entry.c would pass off as its own. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  return gallery_register(host, registrar, "entry_owner.copy(Tensor self) -> Tensor");
}

GALLERY_ENTRY("entry_owner", init, NULL)
