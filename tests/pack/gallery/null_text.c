/* A text has a size but no data. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  onedim_op_t op = gallery_op("null_text.copy(Tensor self) -> Tensor");
  op.summary.data = NULL;
  return host->register_op(registrar, &op);
}

GALLERY_PACK("null_text", init)
