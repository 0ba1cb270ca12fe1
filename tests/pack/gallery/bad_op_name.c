/* An op name with a character that no op name has. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  return gallery_register(host, registrar, "bad_op_name.co-py(Tensor self) -> Tensor");
}

GALLERY_PACK("bad_op_name", init)
