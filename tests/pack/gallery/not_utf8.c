/* A summary that is not UTF-8. */
#include "gallery.h"

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  onedim_op_t op = gallery_op("not_utf8.copy(Tensor self) -> Tensor");
  op.summary = gallery_text("caf\xe9 \xff");
  return host->register_op(registrar, &op);
}

GALLERY_PACK("not_utf8", init)
