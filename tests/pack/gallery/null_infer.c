/* A required pointer is null. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  onedim_op_t op = gallery_op("null_infer.copy(Tensor self) -> Tensor");
  op.infer = NULL;
  return host->register_op(registrar, &op);
}

GALLERY_PACK("null_infer", init)
