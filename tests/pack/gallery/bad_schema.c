/* A schema that does not parse. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  return gallery_register(host, registrar, "bad_schema.copy(Tensor self -> Tensor");
}

GALLERY_PACK("bad_schema", init)
