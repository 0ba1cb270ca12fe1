/* A pack name that could be a path. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  return gallery_register(host, registrar, "bad.copy(Tensor self) -> Tensor");
}

GALLERY_PACK("../Bad", init)
